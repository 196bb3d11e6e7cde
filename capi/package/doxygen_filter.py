"""Makes plain comments of a header visible to doxygen, which takes only those that begin with /**.

usage: doxygen_filter.py HEADER      writes to standard output
"""
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
if sys.argv[1].endswith(".h"):
    text = re.sub(r"\A/\*\n", "/** @file\n", text)                      # what the header is for
    text = re.sub(r"^( *)/\* (?!----|[A-Z][\w ]*\. \*/$)", r"\1/** ", text, flags=re.M)  # before a declaration, less titles of sections
    text = re.sub(r"([;,{]|\d) +/\* ", r"\1 /**< ", text)                # behind a field or a constant
sys.stdout.write(text)
