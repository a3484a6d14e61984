#!/usr/bin/env python3
raise ValueError("no list of words")
