// SPDX-License-Identifier: Apache-2.0
import Glibc
import OfferService
import ServiceRuntime

let code = CommandLineTool.run(CommandLine.arguments)
LogWriter.standardError.flush()
exit(code.rawValue)
