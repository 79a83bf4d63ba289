# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Reader of untrusted XML: bounded, without entities, errors name the element."""

from __future__ import annotations

import math
import re
from xml.etree.ElementTree import Element

import defusedxml
from defusedxml import ElementTree
import numpy as np

from ros_ik.errors import ModelError
from ros_ik.numbers import MAX_MAGNITUDE

# Largest document. The largest description in wide use (a humanoid with hands) has about 1 MB.
MAX_DOCUMENT_BYTES = 64 * 1024 * 1024
MAX_ELEMENTS = 200_000
# A declaration after an empty line, as in a block of YAML or a string in triple quotes.
_LATE_DECLARATION = re.compile(r'\ufeff?\s+<\?xml\s[^<>]*\?>')


def parse_document(text: str, root_tag: str) -> Element:
    """Parse a document and return its root.

    Raises:
        ModelError: Not a string, too large, malformed, with a document type or entities, or with
            another root element.
    """
    if not isinstance(text, str):
        raise ModelError('document', f'expected a string of XML, got {type(text).__name__}')
    size = len(text.encode('utf-8', 'surrogatepass'))
    if size > MAX_DOCUMENT_BYTES:
        raise ModelError('document', f'{size} bytes, more than the {MAX_DOCUMENT_BYTES} accepted')
    if not text.strip():
        raise ModelError('document', 'empty')
    # Each element has at most two; counted before the parser creates the elements.
    if text.count('<') > 2 * MAX_ELEMENTS:
        raise ModelError('document', f'more than the {MAX_ELEMENTS} elements accepted')
    try:
        # A string is already decoded, so the parser ignores the declared encoding.
        readable = _without_late_declaration(text.encode('utf-8', 'replace').decode('utf-8'))
        root = ElementTree.fromstring(readable, forbid_dtd=True)
    except ElementTree.ParseError as error:
        hint = (
            ''
            if '<' in text
            else (
                f'; expected the text of the document, and {text.strip()[:80]!r} looks like a '
                'path: read the file, or give a pathlib.Path'
            )
        )
        raise ModelError('document', f'malformed XML: {error}{hint}') from error
    except defusedxml.DefusedXmlException as error:
        raise ModelError(
            'document', f'document types and entities are not accepted: {error}'
        ) from error
    except (ValueError, LookupError, RecursionError) as error:
        raise ModelError('document', f'unreadable XML: {error}') from error
    if root.tag != root_tag:
        raise ModelError('document', f'expected the root element <{root_tag}>, found <{root.tag}>')
    count = sum(1 for _ in root.iter())
    if count > MAX_ELEMENTS:
        raise ModelError('document', f'{count} elements, more than the {MAX_ELEMENTS} accepted')
    return root


def _without_late_declaration(text: str) -> str:
    """Return a document with spaces for its declaration if something empty precedes that.

    XML permits it at the very beginning only. Lines and columns of errors stay.
    """
    found = _LATE_DECLARATION.match(text)
    return text if found is None else re.sub(r'\S', ' ', found[0]) + text[found.end() :]


def unexpanded(root: Element) -> list[str]:
    """Return a warning for each kind of xacro element, which the parsers ignore."""
    tags = (element.tag for element in root.iter() if isinstance(element.tag, str))
    found = dict.fromkeys(tag.rpartition('}')[2] for tag in tags if 'xacro}' in tag)
    return [f'element xacro:{name}: ignored, expand the xacro first' for name in found]


def required(element: Element, attribute: str, where: str) -> str:
    """Return a required attribute, or raise ModelError."""
    value = element.get(attribute)
    if not value:
        raise ModelError(where, f'<{element.tag}> lacks the attribute {attribute!r}')
    return value


def float_attribute(
    element: Element | None,
    attribute: str,
    where: str,
    default: float | None = None,
    bound: float = MAX_MAGNITUDE,
) -> float:
    """Return a finite number.

    Args:
        element: The element; None is treated as an element without attributes.
        attribute: The attribute.
        where: Name of the element in an error.
        default: Value if the attribute is missing; None makes it required.
        bound: Largest magnitude accepted.

    Raises:
        ModelError: Missing, not a number, NaN, infinite or beyond the bound.
    """
    text = element.get(attribute) if element is not None else None
    if text is None:
        if default is None:
            raise ModelError(where, f'lacks the attribute {attribute!r}')
        return default
    try:
        value = float(text)
    except ValueError as error:
        raise ModelError(where, f'{attribute}={text!r} is not a number') from error
    if not math.isfinite(value):
        raise ModelError(where, f'{attribute}={text!r} is not finite')
    if abs(value) > bound:
        raise ModelError(where, f'{attribute}={text!r} is larger than {bound:g}')
    return value


def vector_attribute(
    element: Element | None, attribute: str, where: str, default: tuple[float, float, float]
) -> np.ndarray:
    """Return three finite numbers, float64 [3], or raise ModelError."""
    text = element.get(attribute) if element is not None else None
    if text is None:
        return np.array(default)
    try:
        value = np.array([float(part) for part in text.split()])
    except ValueError as error:
        raise ModelError(where, f'{attribute}={text!r} is not three numbers') from error
    if value.shape != (3,):
        raise ModelError(where, f'{attribute}={text!r} is not three numbers')
    if not np.all(np.isfinite(value)):
        raise ModelError(where, f'{attribute}={text!r} is not finite')
    if np.abs(value).max() > MAX_MAGNITUDE:
        raise ModelError(where, f'{attribute}={text!r} is larger than {MAX_MAGNITUDE:g}')
    return value
