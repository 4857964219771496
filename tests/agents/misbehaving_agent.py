#!/usr/bin/env python3
"""An agent that goes wrong in the way that it is asked for: misbehaving_agent.py MODE [ARG…], or --list.

The modes are the functions of the package `faults`. Standard library alone.
"""
from faults import main

main()
