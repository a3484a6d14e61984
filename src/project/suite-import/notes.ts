import { shorten } from '../../text/shorten.ts';
import type { Path } from '../../yaml/document.ts';
import { type Problem, type SourceLocation, sortProblems } from '../../yaml/problem.ts';
import { Source } from '../../yaml/source.ts';

type Add = (severity: Problem['severity'], at: SourceLocation, message: string, hint?: string) => void;

/** What an import has to say: `error` was left out, `warning` was carried but differs, `note` changes no verdict. */
export interface Notes {
  readonly add: Add;
  /** A value of a file of the other system: whatever of it no reader takes is one of the problems. */
  open(value: unknown, keyPositionOf: (path: Path) => SourceLocation): Source;
  /** The same of a row of a table, where many rows say the same: of equal messages of one file the first is kept. */
  openRow(value: unknown, keyPositionOf: (path: Path) => SourceLocation): Source;
  /** The items of a list as rows of that kind; what is no mapping is left out, with a note. */
  openItems(list: Source): readonly Source[];
  /** Each once, in the order of the files, with what no reader has taken until now. */
  all(): readonly Problem[];
}

/** Collects notes; `lost` is how severe it is that a value is not carried. */
export function collectNotes(lost: Problem['severity'] = 'error'): Notes {
  const found = new Map<string, Problem>();
  const opened: Source[] = [];
  const adder =
    (keyOf: (place: SourceLocation) => string): Add =>
    (severity, { file, line, column }, message, hint) => {
      const place = { file, line, column };
      const key = `${keyOf(place)} ${message}`;
      if (found.has(key)) return;
      const text = shorten(message, 500);
      found.set(key, { ...place, severity, message: text, ...(hint !== undefined && { hint }) });
    };
  const add = adder(({ file, line, column }) => `${file}:${line}:${column}`);
  const addOfRow = adder(({ file }) => file);
  const opener =
    (adding: Add): Notes['open'] =>
    (value, keyPositionOf) => {
      const source = new Source(value, { keyPositionOf, add: adding });
      opened.push(source);
      return source;
    };
  const openRow = opener(addOfRow);
  return {
    add,
    open: opener(add),
    openRow,
    openItems: (list) =>
      list.items().flatMap((item) => {
        const value = item.mapping();
        if (value === undefined) item.leave('what is no mapping is left out');
        return value === undefined ? [] : [openRow(value, (path) => item.locationOf(path))];
      }),
    all: () => {
      for (const source of opened.splice(0)) source.reportUntaken(lost);
      return sortProblems([...found.values()]);
    },
  };
}
