import { createReadStream } from 'node:fs';
import { RuntimeError } from '../../../errors.ts';
import { isObject, parseLossless } from '../../../json/json.ts';
import { type Line, splitLines } from '../../dataset/lines.ts';
import type { CaseRecord, RunHeader, RunSource, SuiteReport } from '../../run/record.ts';
import { readLastLine } from './last-line.ts';
import { isCase, isHeader, isReport } from './record-shape.ts';

/**
 * Opens what the jsonl reporter wrote. A run that was cut off has no report, and what there is of its last line is
 * left out. Throws FILE_UNREADABLE, as does reading its cases.
 */
export async function openRunFile(file: string): Promise<RunSource> {
  const header = await readHeader(file);
  return { header, report: await readReport(file), cases: (caseId) => readCases(file, caseId) };
}

async function readHeader(file: string): Promise<RunHeader> {
  for await (const line of readLines(file)) {
    const event = parse(line);
    if (event?.type === 'run' && isHeader(event.value)) return event.value;
    throw isReportDocument(event?.value) ? onlyReport(file) : noRun(file);
  }
  throw noRun(file);
}

async function readReport(file: string): Promise<SuiteReport | undefined> {
  const event = parse(await explain(file, () => readLastLine(file)));
  return event?.type === 'report' && isReport(event.value) ? event.value : undefined;
}

async function* readCases(file: string, caseId: string | undefined): AsyncGenerator<CaseRecord> {
  let broken: number | undefined;
  for await (const line of readLines(file)) {
    if (broken !== undefined) throw notOfRun(file, broken);
    const event = parse(line);
    if (event === undefined) broken = line.number;
    else if (event.type !== 'case') continue;
    else if (!isCase(event.value)) throw notOfRun(file, line.number);
    else if (caseId === undefined || event.value.id === caseId) yield event.value;
  }
}

/** A line cannot be longer than a text that V8 holds. */
const maxLineBytes = 256 * 1024 * 1024;

async function* readLines(file: string): AsyncGenerator<Line> {
  const stream = createReadStream(file);
  try {
    yield* splitLines(stream, maxLineBytes);
  } catch (cause) {
    throw unreadable(file, cause);
  } finally {
    stream.destroy();
  }
}

interface Event {
  readonly type: unknown;
  readonly value: unknown;
}

/** Undefined where it is no JSON object. */
function parse({ bytes }: Pick<Line, 'bytes'>): Event | undefined {
  try {
    const whole = bytes === undefined ? undefined : parseLossless(bytes.toString('utf8'));
    if (!isObject(whole)) return undefined;
    const { type, ...value } = whole;
    return { type, value };
  } catch {
    return undefined;
  }
}

async function explain<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

function isReportDocument(value: unknown): boolean {
  return isObject(value) && 'run_id' in value && 'evals' in value;
}

function onlyReport(file: string): RuntimeError {
  return new RuntimeError('FILE_UNREADABLE', `${file} holds the report of a run, but not its cases`, {
    hint: 'Run the suite with --reporter jsonl=FILE, and give that file.',
  });
}

function noRun(file: string): RuntimeError {
  return new RuntimeError('FILE_UNREADABLE', `${file}:1 does not begin a run of a suite`, {
    hint: 'Give a file that `eval run --reporter jsonl=FILE` has written.',
  });
}

function notOfRun(file: string, line: number): RuntimeError {
  return new RuntimeError('FILE_UNREADABLE', `${file}:${line} is no line of a run`, {
    hint: 'The file was changed or damaged; run the suite again.',
  });
}

function unreadable(file: string, cause: unknown): RuntimeError {
  if (cause instanceof RuntimeError) return cause;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const why = {
    ENOENT: 'does not exist',
    ENOTDIR: 'does not exist',
    EISDIR: 'is a folder',
    EACCES: 'may not be read',
  };
  const known = Object.entries(why).find(([key]) => key === code)?.[1];
  const reason = known ?? `cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`;
  return new RuntimeError('FILE_UNREADABLE', `${file} ${reason}`, { cause });
}
