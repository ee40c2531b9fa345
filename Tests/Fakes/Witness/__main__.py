# SPDX-License-Identifier: Apache-2.0
"""Runs a witness of transparency logs; README.md says how to use it.

Usage: python3 -B Tests/Fakes/Witness [--folder FOLDER] [--control-port PORT]
"""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Common"))

from control import Control
from fake import FakeWitness
from program import main

main("fake-witness", FakeWitness, Control)
