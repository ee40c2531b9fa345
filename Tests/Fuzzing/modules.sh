# SPDX-License-Identifier: Apache-2.0
# For the fuzzers that need modules of the project; they are built once for all, and again when one of them changes.

build=.build/fuzzing/modules
mkdir -p "$build"
options="-O -swift-version 6 -parse-as-library -package-name fuzzing -enable-upcoming-feature InternalImportsByDefault
    -enable-upcoming-feature NonisolatedNonsendingByDefault -I Sources/COpenSSL -I Sources/CLinux -I $build"

module() { # NAME FOLDER SANITIZERS [FILE]
    if [ -e "$build/lib$1.a" ] \
        && [ -z "$(find "$2" Sources/JSON Sources/Cryptography Sources/OfferDomain ${4:+"$4"} -newer "$build/lib$1.a")" ]
    then return; fi
    swiftc $options "-sanitize=$3" -emit-module -emit-module-path "$build/$1.swiftmodule" -emit-library -static \
        -module-name "$1" -o "$build/lib$1.a" $(find "$2" -name '*.swift') ${4:+"$4"}
}

# The program's own build writes this file, too; here it is made again, as the modules are built without it.
Scripts/package-resources >"$build/Resources.new"
cmp -s "$build/Resources.new" "$build/Resources.swift" || mv "$build/Resources.new" "$build/Resources.swift"

module JSON Sources/JSON fuzzer,address
module Cryptography Sources/Cryptography fuzzer,address "$build/Resources.swift"
