"""The rule that a public header explains itself: `\\file`, and a /// comment on every declaration.

One comment serves a group of declarations without an empty line between them; an enumeration may
explain its values instead of itself.
"""

import re

from rules import HEADERS, sources

TYPE = re.compile(r"^(template\s*<.*>\s*)?(class|struct|enum|union)\b")
FUNCTION = re.compile(r"^[\w:<>,*&\s\[\]]+?\b(\w+|operator\S+)\s*\(")
SKIPPED = re.compile(r"^(namespace|using|extern|static_assert|friend|#|\}|//|\)|[A-Z_]+\()")


def blank_comments_and_strings(line):
    line = re.sub(r'"(\\.|[^"\\])*"', '""', line)
    line = re.sub(r"'(\\.|[^'\\])'", "' '", line)
    return re.sub(r"//.*", "", line)


def declarations(text):
    """(line number, text, documented) of each declaration at namespace scope.

    Braces of namespaces do not count; whatever lies inside any other brace is not at this scope.
    """
    depth = 0  # inside braces that are no namespace's
    statement, first = "", 0
    documented = False
    block_comment = False
    for number, raw in enumerate(text.splitlines(), 1):
        stripped = raw.strip()
        if block_comment or stripped.startswith("/*"):
            if stripped.startswith("/**"):
                documented = True
            block_comment = "*/" not in stripped
            continue
        if depth == 0 and not statement:
            if stripped.startswith("///"):
                documented = "\\file" not in stripped and (documented or len(stripped) > 3)
                continue
            if not stripped:
                documented = False
                continue
            if stripped.startswith("#"):
                continue
        code = blank_comments_and_strings(raw).strip()
        if not code:
            continue
        if depth == 0 and not statement:
            first, documented_here = number, False
            if code.startswith("namespace") or code.startswith('extern "'):
                documented = False
                continue
            if code.startswith("}"):  # the end of a namespace
                continue
        behind = "///<" in raw and (depth == 0 or statement.startswith("enum"))
        statement = f"{statement} {code}".strip() if depth == 0 else statement
        depth += code.count("{") - code.count("}")
        documented_here = documented_here or documented or behind
        if depth == 0 and re.search(r"[;}]$", code):
            yield first, statement, documented_here
            statement = ""


def documented_headers(tree):
    """Every header says `\\file`, and every type and function at namespace scope has a comment."""
    for path in sources(tree, suffixes=HEADERS):
        text = (tree / path).read_text(encoding="utf-8")
        if "\\file" not in text:
            yield f"{path}: no '/// \\file' comment that says what the header is for"
        for number, statement, documented in declarations(text):
            if documented or SKIPPED.match(statement):
                continue
            forward = re.match(r"^(class|struct)\s+[\w:]+;$", statement)
            if not forward and (TYPE.match(statement) or FUNCTION.match(statement)):
                yield f"{path}:{number}: no /// comment above '{statement[:60]}'"
