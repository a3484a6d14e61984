import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { RuntimeError } from '../../base/errors.ts';
import { whyUnreadable } from '../../base/files/file-error.ts';
import { isObject } from '../../base/json/json.ts';
import { fits } from '../../base/json/shape.ts';
import { tryParseLossless } from '../../base/json/try-parse.ts';
import { type Line, splitLines } from '../dataset/lines.ts';
import type { Rating } from '../rating/rating.ts';
import { ratingShape } from '../rating/ratings.ts';
import {
  type CaseRecord,
  caseRecord,
  type RunHeader,
  type RunSource,
  runHeader,
  type SuiteReport,
  suiteReport,
} from '../record.ts';

/**
 * Opens a file of the jsonl reporter. A run that was cut off has no report, and an incomplete last line is
 * ignored. Throws FILE_UNREADABLE, as does reading its cases.
 */
export async function openRunFile(file: string): Promise<RunSource> {
  return {
    header: await readHeader(file),
    report: await readReport(file),
    cases: (caseId) => readCases(file, caseId),
    ratings: (caseId) => readRatings(file, caseId),
  };
}

async function readHeader(file: string): Promise<RunHeader> {
  for await (const line of readLines(file)) {
    const parsed = parse(line);
    if (parsed?.type === 'run' && fits(runHeader, parsed.value)) return parsed.value;
    throw isReportDocument(parsed?.value) ? notACaseFile(file) : notARunFile(file);
  }
  throw notARunFile(file);
}

async function readReport(file: string): Promise<SuiteReport | undefined> {
  const parsed = parse(await withFileErrors(file, () => readLastLine(file)));
  if (parsed?.type === 'suites') throw severalRuns(file);
  return parsed?.type === 'report' && fits(suiteReport, parsed.value) ? parsed.value : undefined;
}

async function* readCases(file: string, caseId: string | undefined): AsyncGenerator<CaseRecord> {
  let broken: number | undefined;
  for await (const line of readLines(file)) {
    if (broken !== undefined) throw badLine(file, broken);
    const parsed = parse(line);
    if (parsed === undefined) broken = line.number;
    else if (parsed.type === 'run' && line.number > 1) throw severalRuns(file);
    else if (parsed.type !== 'case') continue;
    else if (!fits(caseRecord, parsed.value)) throw badLine(file, line.number);
    else if (caseId === undefined || parsed.value.id === caseId) yield parsed.value;
  }
}

async function* readRatings(file: string, caseId: string | undefined): AsyncGenerator<Rating> {
  for await (const line of readLines(file)) {
    // Most lines are cases, which need not be parsed.
    if (line.bytes === undefined || !line.bytes.subarray(0, 40).includes('"rating"')) continue;
    const parsed = parse(line);
    if (parsed?.type !== 'rating') continue;
    if (!fits(ratingShape, parsed.value)) throw badLine(file, line.number);
    if (caseId === undefined || parsed.value.case === caseId) yield parsed.value;
  }
}

/** Below the greatest length of a string in V8. */
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

interface RunLine {
  readonly type: unknown;
  readonly value: unknown;
}

/** Undefined when the line is not a JSON object. */
function parse({ bytes }: Pick<Line, 'bytes'>): RunLine | undefined {
  const whole = bytes && tryParseLossless(bytes.toString('utf8'));
  if (!isObject(whole)) return undefined;
  const { type, ...value } = whole;
  return { type, value };
}

async function withFileErrors<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

function isReportDocument(value: unknown): boolean {
  return isObject(value) && 'run_id' in value && 'evals' in value;
}

function notACaseFile(file: string): RuntimeError {
  return new RuntimeError('FILE_UNREADABLE', `${file} holds the report of a run, but not its cases`, {
    hint: 'Run the suite with --reporter jsonl=FILE, and give that file.',
  });
}

function notARunFile(file: string): RuntimeError {
  return new RuntimeError('FILE_UNREADABLE', `${file}:1 does not begin a run of a suite`, {
    hint: 'Give a file that `eval run --reporter jsonl=FILE` has written.',
  });
}

function severalRuns(file: string): RuntimeError {
  return new RuntimeError('FILE_UNREADABLE', `${file} holds the runs of several suites`, {
    hint: 'Give the id of a kept run (`eval list`), or run one suite with --reporter jsonl=FILE.',
  });
}

function badLine(file: string, line: number): RuntimeError {
  return new RuntimeError('FILE_UNREADABLE', `${file}:${line} is no line of a run`, {
    hint: 'The file was changed or damaged; run the suite again.',
  });
}

function unreadable(file: string, cause: unknown): RuntimeError {
  if (cause instanceof RuntimeError) return cause;
  return new RuntimeError('FILE_UNREADABLE', `${file} ${whyUnreadable(cause)}`, { cause });
}

/** The last line of a file that has text in it, read from its end. */
async function readLastLine(file: string): Promise<{ readonly bytes: Buffer }> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    return { bytes: await readBack(handle, size) };
  } finally {
    await handle.close();
  }
}

async function readBack(handle: FileHandle, size: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - chunkSize);
    const chunk = await readExactly(handle, start, end);
    const used = parts.length === 0 ? trimEnd(chunk) : chunk;
    const feed = used.lastIndexOf(LINE_FEED);
    if (feed !== -1) return Buffer.concat([used.subarray(feed + 1), ...parts]);
    if (used.length > 0) parts.unshift(used);
    end = start;
  }
  return Buffer.concat(parts);
}

const chunkSize = 64 * 1024;
const LINE_FEED = 0x0a;

async function readExactly(handle: FileHandle, start: number, end: number): Promise<Buffer> {
  const buffer = Buffer.alloc(end - start);
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
  return buffer.subarray(0, bytesRead);
}

function trimEnd(chunk: Buffer): Buffer {
  const last = chunk.findLastIndex((byte) => byte !== LINE_FEED && byte !== 0x0d && byte !== 0x20);
  return chunk.subarray(0, last + 1);
}
