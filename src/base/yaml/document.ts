import { isUtf8 } from 'node:buffer';
import { type Document, LineCounter } from 'yaml';
import { RuntimeError } from '../errors.ts';
import { systemCode, whyUnreadable } from '../files/file-error.ts';
import { nearFileHint } from '../files/paths.ts';
import { readBounded } from '../files/read-bounded.ts';
import type { Problem, SourceLocation } from './problem.ts';
import { lowerFirst, parseYaml, syntaxProblems, tooDeep } from './syntax.ts';
import { findMistakes, keysAt, lookUp, type NodeOffsets, type TreeMistake } from './tree.ts';

export type Path = readonly (string | number)[];

export interface YamlDocument {
  /** As the user gave it. */
  readonly file: string;
  /** Plain values; undefined if the file cannot be parsed, which `problems` explains. */
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** The entry of `problems` about further documents; a tolerant loader may treat it as a warning. */
  readonly secondDocument: Problem | undefined;
  /** The position of the value, or of its nearest existing ancestor. */
  positionOf(path: Path): SourceLocation;
  /** The position of the value's key or list item; falls back like `positionOf`. */
  keyPositionOf(path: Path): SourceLocation;
  /** A scalar as the file spells it, without quotes: `1.10` stays `1.10`. */
  sourceOf(path: Path): string | undefined;
  /** The keys of a mapping in file order, which plain values lose for keys like `10`. */
  keysOf(path: Path): readonly string[];
}

/** Reads the first YAML 1.2 (or JSON) document. Throws FILE_UNREADABLE; other errors are problems. */
export function readDocument(file: string): YamlDocument {
  const text = readText(file);
  return typeof text === 'string' ? parseDocument(file, text) : brokenDocument(file, text);
}

/** `file` is the name in problems. Syntax errors become problems. */
export function parseDocument(file: string, text: string): YamlDocument {
  const lines = new LineCounter();
  const documents = tryParse(text, lines);
  const [first, second] = documents ?? [];
  const at = (offset: number): SourceLocation => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  if (documents === undefined)
    return brokenDocument(file, { ...at(deepestOffset(text)), severity: 'error', message: tooDeep });
  if (first === undefined)
    return brokenDocument(file, {
      ...at(0),
      severity: 'error',
      message: 'the file is empty',
      hint: emptyHint,
    });
  return toYamlDocument(file, first, { at, second, text });
}

const emptyHint = 'A config begins with `apiVersion: signalbox/v1` and `kind: RuntimeConfig`.';

function tryParse(text: string, lines: LineCounter): readonly Document.Parsed[] | undefined {
  try {
    return parseYaml(text, lines);
  } catch (thrown) {
    if (thrown instanceof RangeError) return undefined;
    throw thrown;
  }
}

function deepestOffset(text: string): number {
  let deepest = { offset: 0, width: 0 };
  for (const { index, 1: indent = '' } of text.matchAll(/^( +)\S/gm)) {
    if (indent.length > deepest.width) deepest = { offset: index, width: indent.length };
  }
  return deepest.offset + deepest.width;
}

function brokenDocument(file: string, problem: Problem): YamlDocument {
  const start = (): SourceLocation => ({ file, line: 1, column: 1 });
  return {
    file,
    value: undefined,
    problems: [problem],
    secondDocument: undefined,
    positionOf: start,
    keyPositionOf: start,
    sourceOf: () => undefined,
    keysOf: () => [],
  };
}

interface DocumentContext {
  readonly at: (offset: number) => SourceLocation;
  readonly second: Document.Parsed | undefined;
  readonly text: string;
}

function toYamlDocument(
  file: string,
  document: Document.Parsed,
  { at, second, text }: DocumentContext,
): YamlDocument {
  const { value, mistakes } =
    document.errors.length === 0 ? toValue(document) : { value: undefined, mistakes: [] };
  const located = mistakes.map(
    ({ offset, ...said }): Problem => ({ ...at(offset), severity: 'error', ...said }),
  );
  const secondDocument = second && hasContents(second) ? reportSecond(second, at) : undefined;
  const positionAt = (pick: (offsets: NodeOffsets) => number) => (path: Path) =>
    at(pick(lookUp(document, path)));
  return {
    file,
    value,
    problems: [
      ...syntaxProblems(document, at, text),
      ...located,
      ...(secondDocument ? [secondDocument] : []),
    ],
    secondDocument,
    positionOf: positionAt((offsets) => offsets.valueOffset),
    keyPositionOf: positionAt((offsets) => offsets.keyOffset),
    sourceOf: (path) => lookUp(document, path).source,
    keysOf: (path) => keysAt(document, path),
  };
}

function hasContents(document: Document.Parsed): boolean {
  const range = document.contents?.range;
  return document.errors.length > 0 || (range !== undefined && range !== null && range[1] > range[0]);
}

function reportSecond(second: Document.Parsed, at: DocumentContext['at']): Problem {
  return {
    ...at(second.contents?.range?.[0] ?? second.range[0]),
    severity: 'error',
    message: 'only the first YAML document of a file is used; a second one starts here',
    hint: 'Remove the `---` above it, or move it to another file.',
  };
}

function toValue(document: Document.Parsed): { value: unknown; mistakes: readonly TreeMistake[] } {
  try {
    const { mistakes, duplicates } = findMistakes(document);
    if (mistakes.length > 0) return { value: undefined, mistakes };
    return { value: document.toJS(), mistakes: duplicates };
  } catch (thrown) {
    const message = `YAML: ${lowerFirst(thrown instanceof Error ? thrown.message : String(thrown))}`;
    return { value: undefined, mistakes: [{ offset: document.contents?.range?.[0] ?? 0, message }] };
  }
}

/** Reads UTF-8 without a byte order mark, or reports an invalid byte. Throws FILE_UNREADABLE. */
export function readText(file: string): string | Problem {
  const bytes = readBytes(file);
  return isUtf8(bytes) ? new TextDecoder().decode(bytes) : findBadByte(file, bytes);
}

function readBytes(file: string): Buffer {
  try {
    return readBounded(file);
  } catch (cause) {
    const more = systemCode(cause) === 'ENOTDIR' ? ': a part of its path is a file' : '';
    throw new RuntimeError('FILE_UNREADABLE', `${file} ${whyUnreadable(cause)}${more}`, {
      cause,
      hint:
        cause instanceof RuntimeError
          ? cause.hint
          : systemCode(cause) === 'ENOENT'
            ? nearFileHint(file)
            : undefined,
    });
  }
}

function findBadByte(file: string, bytes: Buffer): Problem {
  let line = 1;
  let start = 0;
  for (let end = bytes.indexOf(0x0a); end !== -1 && isUtf8(bytes.subarray(start, end)); ) {
    line += 1;
    start = end + 1;
    end = bytes.indexOf(0x0a, start);
  }
  const column = bytes.toString('utf8', start).indexOf('\uFFFD') + 1;
  return {
    file,
    line,
    column,
    severity: 'error',
    message: 'the file is not UTF-8 here',
    hint: 'Save it as UTF-8.',
  };
}
