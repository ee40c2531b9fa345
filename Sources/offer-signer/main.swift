// SPDX-License-Identifier: Apache-2.0
import Glibc
import OfferService

exit(CommandLineTool.run(CommandLine.arguments).rawValue)
