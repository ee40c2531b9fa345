# SPDX-License-Identifier: Apache-2.0
"""Writes the Swift blocks of documents as files that a compiler can check, one for each block.

Usage: Scripts/swift_snippets.py FOLDER PAGE…

What a block uses without saying where it comes from is declared around it; a block of declarations stands by itself.
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


def program(block):
    """The block as a file of its own."""
    imports = [line for line in block.splitlines() if line.startswith("import ")]
    lines = [line for line in block.splitlines() if not line.startswith("import ")]
    text = "\n".join(lines)
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
        for number, block in enumerate(re.findall(r"^```swift\n(.*?)^```", pathlib.Path(page).read_text(), re.S | re.M)):
            (folder / f"{name}-{number}.swift").write_text(program(block))
            count += 1
    if count < 5:
        sys.exit(f"The documents have only {count} blocks of Swift.")


main()
