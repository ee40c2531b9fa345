# SPDX-License-Identifier: Apache-2.0
"""Runs the fake App Store; README.md says how to use it.

Usage: python3 -B Tests/Fakes/AppStore [--folder FOLDER] [--control-port PORT]
"""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Common"))

from control import Control
from fake import FakeAppStore
from program import main

main("fake-app-store", FakeAppStore, Control)
