import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, extname, join, relative } from 'node:path';
import { stringify } from 'yaml';
import { RuntimeError } from '../../../src/base/errors.ts';
import { isObject } from '../../../src/base/json/json.ts';
import { type Path, parseDocument } from '../../../src/base/yaml/document.ts';
import type { Problem } from '../../../src/base/yaml/problem.ts';

/** Files of another system by name. Values are written as YAML, or as JSON Lines or CSV rows according to the name. */
type ForeignFiles = Readonly<Record<string, unknown>>;

interface Imported {
  readonly written: unknown;
  readonly problems: readonly Problem[];
}

export interface ImportUnderTest {
  readonly files: ForeignFiles;
  read(folder: string): Promise<Imported> | Imported;
  /** Dotted paths, with `*` for any segment, whose value has no effect. Each needs its reason in the test. */
  readonly idle: readonly string[];
}

export const foreignKey = 'zq_unheard_of';
const foreignValues = ['a text', 7, true, ['x'], { y: 1 }];

/** Adds an unknown key to every mapping of every file. Each must be reported with its file and line. */
export async function findUnreportedKeys(tested: ImportUnderTest): Promise<readonly string[]> {
  const first = await importOf(tested, tested.files);
  const known = new Set(first.problems.map(({ message }) => message));
  const missed: string[] = [];
  for (const [file, value] of Object.entries(tested.files))
    for (const [index, path] of mappingsIn(value, []).entries()) {
      const place = [...path, foreignKey];
      if (isIdle(tested, place) || isReported(leftOut(first), { file, value, path })) continue;
      const foreign = foreignValues[index % foreignValues.length];
      const changed = withMember(value, path, (mapping) => ({ ...toObject(mapping), [foreignKey]: foreign }));
      const found = await importOf(tested, { ...tested.files, [file]: changed });
      const isCarried = JSON.stringify(found.written).includes(foreignKey);
      const fresh = found.problems.filter(({ message }) => !known.has(message));
      if (!isCarried && !isReported(fresh, { file, value: changed, path: place }))
        missed.push(`${file} ${path.join('.')} ${JSON.stringify(foreign)}`);
    }
  return missed;
}

function leftOut({ problems }: Imported): readonly Problem[] {
  return problems.filter(
    ({ severity, message }) => severity === 'error' || /is not carried|is left out/.test(message),
  );
}

/** Replaces every value by another one and by one of another type. The output or the problems must change each time. */
export async function findSilentValues(tested: ImportUnderTest): Promise<readonly string[]> {
  const first = await importOf(tested, tested.files);
  const before = seen(first);
  const missed: string[] = [];
  for (const [file, value] of Object.entries(tested.files))
    for (const [index, path] of leavesIn(value, []).entries()) {
      if (isIdle(tested, path) || isReported(leftOut(first), { file, value, path })) continue;
      for (const change of [another, index % 2 === 0 ? list : mapping]) {
        const changed = withMember(value, path, change);
        const after = seen(await importOf(tested, { ...tested.files, [file]: changed }));
        if (after === before) missed.push(`${file} ${path.join('.')} as ${change.name}`);
      }
    }
  return missed;
}

function another(value: unknown): unknown {
  if (typeof value === 'number') return value + 1;
  return typeof value === 'boolean' ? !value : `${String(value)}x`;
}

function list(value: unknown): unknown {
  return [[value]];
}

function mapping(value: unknown): unknown {
  return { [foreignKey]: value };
}

function seen({ written, problems }: Imported): string {
  return JSON.stringify([written, problems.map(({ severity, message }) => [severity, message])]);
}

async function importOf({ read }: ImportUnderTest, files: ForeignFiles): Promise<Imported> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'losses-')));
  const relativeTo = (text: string) => text.replaceAll(folder, 'FOLDER');
  try {
    for (const [name, value] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), textOf(name, value), { mode: 0o755 });
    }
    const found = await read(folder);
    return {
      written: JSON.parse(relativeTo(JSON.stringify(found.written))),
      problems: found.problems.map((each) => ({
        ...each,
        file: relative(folder, each.file),
        message: relativeTo(each.message),
      })),
    };
  } catch (thrown) {
    if (!(thrown instanceof RuntimeError) || thrown.code === 'INTERNAL') throw thrown;
    return { written: `${thrown.code} ${relativeTo(thrown.message)}`, problems: [] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  const ending = extname(name);
  if (ending === '.json') return JSON.stringify(value, null, 2);
  if (ending === '.jsonl' && Array.isArray(value))
    return value.map((row) => `${JSON.stringify(row)}\n`).join('');
  if (ending === '.csv' && Array.isArray(value)) return tableOf(value);
  return stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 });
}

function tableOf(rows: readonly unknown[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(toObject(row))))];
  const cell = (value: unknown): string => {
    const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
    return `"${text.replaceAll('"', '""')}"`;
  };
  const lines = rows.map((row) => names.map((name) => cell(toObject(row)[name])).join(','));
  return [names.map(cell).join(','), ...lines].map((line) => `${line}\n`).join('');
}

interface Place {
  readonly file: string;
  readonly value: unknown;
  readonly path: Path;
}

/** True if a problem points to the value or to an enclosing value that is not carried over as a whole. */
function isReported(problems: readonly Problem[], { file, value, path }: Place): boolean {
  const here = problems.filter((each) => each.file === file);
  const names = path.filter((key) => typeof key === 'string');
  const first = { '.jsonl': 1, '.csv': 2 }[extname(file)];
  if (first !== undefined)
    return here.some(
      ({ line, message }) => line === Number(path[0]) + first && names.some((name) => message.includes(name)),
    );
  const document = parseDocument(file, textOf(file, value));
  const around = path.map((_, index) => path.slice(0, index + 1));
  const places = around.flatMap((each) => [document.keyPositionOf(each), document.positionOf(each)]);
  return here.some(({ line, column }) =>
    places.some((place) => place.line === line && place.column === column),
  );
}

function isIdle({ idle }: ImportUnderTest, path: Path): boolean {
  return idle.some((pattern) => {
    const words = pattern.split('.');
    return (
      words.length <= path.length &&
      words.every((word, index) => word === '*' || word === String(path[index]))
    );
  });
}

function mappingsIn(value: unknown, path: Path): readonly Path[] {
  const inner = entriesOf(value).flatMap(([key, member]) => mappingsIn(member, [...path, key]));
  return isObject(value) ? [path, ...inner] : inner;
}

function leavesIn(value: unknown, path: Path): readonly Path[] {
  const entries = entriesOf(value);
  return entries.length === 0 && typeof value !== 'object'
    ? path.length === 0
      ? []
      : [path]
    : entries.flatMap(([key, member]) => leavesIn(member, [...path, key]));
}

function entriesOf(value: unknown): readonly (readonly [string | number, unknown])[] {
  if (Array.isArray(value)) return [...value.entries()];
  return isObject(value) ? Object.entries(value) : [];
}

function toObject(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

function withMember(value: unknown, path: Path, change: (value: unknown) => unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return change(value);
  if (Array.isArray(value))
    return value.map((each: unknown, index) => (index === key ? withMember(each, rest, change) : each));
  return { ...toObject(value), [key]: withMember(toObject(value)[key], rest, change) };
}
