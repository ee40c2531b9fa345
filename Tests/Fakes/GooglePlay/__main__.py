# SPDX-License-Identifier: Apache-2.0
"""Runs the fake Google Play; README.md says how to use it.

Usage: python3 -B Tests/Fakes/GooglePlay [--folder FOLDER] [--control-port PORT]
"""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Common"))

from control import Control
from fake import FakeGooglePlay
from program import main

main("fake-google-play", FakeGooglePlay, Control)
