# SPDX-License-Identifier: Apache-2.0
"""Writes the Swift blocks of documents as files that a compiler can check, one for each block.

Usage: Scripts/swift_snippets.py FOLDER PAGE[+PAGE]…

What a block uses without saying where it comes from is declared around it; a block of declarations is left as it is. Blocks
of pages with + between them use each other, and become one file.
"""
import pathlib
import re
import sys

HEAD = """#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
%s

%s
"""
IMPORTS = ["import Foundation", "import OfferSignerClient", "import StoreKit"]
FUNCTION = """struct Page {
    let client: OfferSignerClient
    let product: Product
    let skProduct: SKProduct
    let signed: SignedOffer
    let answer: SignedIntroductoryOffer
    let apiKey: String

    @MainActor
    func snippet(_ product: %s) async throws {
%s
    }
}"""

# With or without a comment before it.
DECLARATION = re.compile(r"(\s*//[^\n]*\n)*\s*(private )?(struct|enum|actor|extension|@MainActor|func)\b")
BLOCK = re.compile(r"^```swift\n(.*?)^```", re.S | re.M)


def parted(block):
    """What the block imports, and the rest of it."""
    lines = block.splitlines()
    imports = [line for line in lines if line.startswith("import ")]
    return imports, "\n".join(line for line in lines if not line.startswith("import "))


def whole(blocks):
    """Blocks of declarations as one file."""
    parts = [parted(block) for block in blocks]
    imports = IMPORTS + [line for part in parts for line in part[0]]
    return HEAD % ("\n".join(sorted(set(imports))), "\n".join(part[1] for part in parts))


def program(block):
    """The block as a file of its own."""
    imports, text = parted(block)
    declarations, calls = [], []
    for part in re.split(r"\n\s*\n(?=\S)", text):
        (declarations if DECLARATION.match(part) else calls).append(part)
    body = "\n".join(declarations)
    if calls:
        kind = "SKProduct" if "SKMutablePayment" in text or "SKPaymentQueue" in text else "Product"
        uses = "\n".join(f"        _ = {name}" for name in re.findall(r"^(?:let|var) (\w+)\b", "\n".join(calls), re.M))
        body += "\n" + FUNCTION % (kind, "\n".join("        " + line for line in "\n".join(calls).splitlines()) + "\n" + uses)
    # A file of its own says itself what it imports.
    used = imports if imports and not calls else IMPORTS + imports
    return HEAD % ("\n".join(sorted(set(used))), body)


def main():
    folder, pages = pathlib.Path(sys.argv[1]), sys.argv[2:]
    count = 0
    for page in pages:
        name = re.sub(r"\W", "-", page)
        blocks = [block for part in page.split("+") for block in BLOCK.findall(pathlib.Path(part).read_text())]
        programs = [whole(blocks)] if "+" in page else [program(block) for block in blocks]
        for number, text in enumerate(programs):
            (folder / f"{name}-{number}.swift").write_text(text)
            count += 1
    if count < 5:
        sys.exit(f"The documents have only {count} blocks of Swift.")


main()
