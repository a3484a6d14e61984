import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { globSync } from 'tinyglobby';
import { areas } from './areas.ts';
import { toPage } from './page.ts';
import { isFound, isSurvivor, type Mutant, type MutationReport } from './report.ts';

// node test/mutation/record.ts writes the results of `npm run mutate` to record.json and docs/internals/mutation.md.
// Reasons of survivors are preserved.

export interface Survivor {
  readonly line: number;
  readonly was: string;
  readonly becomes: string;
  /** Why no test detects it; empty if unknown. */
  readonly why: string;
}

export interface FileRecord {
  /** The digest of the mutated file. */
  readonly digest: string;
  /** Found by a failing test or by a time limit. */
  readonly killed: number;
  readonly survivors: readonly Survivor[];
}

/** By path; null: not tried yet. */
export type MutationRecord = Readonly<Record<string, FileRecord | null>>;

const root = join(import.meta.dirname, '../..');
export const recordFile = join(import.meta.dirname, 'record.json');

export function readRecord(): MutationRecord {
  return existsSync(recordFile) ? JSON.parse(readFileSync(recordFile, 'utf8')) : {};
}

export function coreFiles(): string[] {
  return globSync(
    areas.flatMap(({ sources }) => sources),
    { cwd: root },
  ).sort();
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

function toFileRecord(source: string, mutants: readonly Mutant[], before: FileRecord | null): FileRecord {
  const said = new Map(before?.survivors.map(({ was, becomes, why }) => [`${was} → ${becomes}`, why]));
  const survivors = mutants
    .filter(isSurvivor)
    .map((mutant) => {
      const was = shorten(textAt(source, mutant.location));
      const becomes = shorten(mutant.replacement ?? '');
      return { line: mutant.location.start.line, was, becomes, why: said.get(`${was} → ${becomes}`) ?? '' };
    })
    .sort((one, other) => one.line - other.line);
  const killed = mutants.filter(isFound);
  return { digest: digestOf(source), killed: killed.length, survivors };
}

function textAt(source: string, { start, end }: Mutant['location']): string {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  const last = lines.length - 1;
  lines[last] = lines[last]?.slice(0, end.column - 1) ?? '';
  lines[0] = lines[0]?.slice(start.column - 1) ?? '';
  return lines.join('\n');
}

const shorten = (text: string) => text.replace(/\s+/g, ' ').slice(0, 100);

function merge(folder: string): MutationRecord {
  const before = readRecord();
  const after: Record<string, FileRecord | null> = Object.fromEntries(
    coreFiles().map((file) => [file, before[file] ?? null]),
  );
  const reports = readdirSync(folder).filter((name) => areas.some((area) => name === `${area.name}.json`));
  for (const name of reports) {
    const { files }: MutationReport = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    for (const [file, { source, mutants }] of Object.entries(files))
      if (file in after) after[file] = toFileRecord(source, mutants, before[file] ?? null);
  }
  return after;
}

if (import.meta.main) {
  const record = merge(process.env['MUTATION_OUT'] ?? join(tmpdir(), 'mutation'));
  writeFileSync(recordFile, `${JSON.stringify(record, null, 2)}\n`);
  writeFileSync(join(root, 'docs/internals/mutation.md'), toPage(record));
}
