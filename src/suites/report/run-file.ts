import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { RuntimeError } from '../../base/errors.ts';
import { whyUnreadable } from '../../base/files/file-error.ts';
import { isObject } from '../../base/json/json.ts';
import { tryParseLossless } from '../../base/json/parse.ts';
import { fits } from '../../base/json/shape.ts';
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
 * Opens a file of the jsonl reporter. A cut-off run has no report, and an incomplete last line is ignored. Opening it
 * and reading its cases throw FILE_UNREADABLE.
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
    const { type, value } = parse(line) ?? {};
    if (type === 'run' && fits(runHeader, value)) return value;
    const isReport = isObject(value) && 'run_id' in value && 'evals' in value;
    throw unfit(file, isReport ? 'reportAlone' : 'noRun');
  }
  throw unfit(file, 'noRun');
}

async function readReport(file: string): Promise<SuiteReport | undefined> {
  const { type, value } = parse({ bytes: await readLastLine(file) }) ?? {};
  if (type === 'suites') throw unfit(file, 'several');
  return type === 'report' && fits(suiteReport, value) ? value : undefined;
}

async function* readCases(file: string, caseId: string | undefined): AsyncGenerator<CaseRecord> {
  let broken: number | undefined;
  for await (const line of readLines(file)) {
    if (broken !== undefined) throw unfit(file, 'damaged', broken);
    const parsed = parse(line);
    if (parsed === undefined) broken = line.number;
    else if (parsed.type === 'run' && line.number > 1) throw unfit(file, 'several');
    else if (parsed.type !== 'case') continue;
    else if (!fits(caseRecord, parsed.value)) throw unfit(file, 'damaged', line.number);
    else if (caseId === undefined || parsed.value.id === caseId) yield parsed.value;
  }
}

async function* readRatings(file: string, caseId: string | undefined): AsyncGenerator<Rating> {
  for await (const line of readLines(file)) {
    // Skips parsing of cases, which are most lines.
    if (line.bytes === undefined || !line.bytes.subarray(0, 40).includes('"rating"')) continue;
    const parsed = parse(line);
    if (parsed?.type !== 'rating') continue;
    if (!fits(ratingShape, parsed.value)) throw unfit(file, 'damaged', line.number);
    if (caseId === undefined || parsed.value.case === caseId) yield parsed.value;
  }
}

/** Below V8's maximum string length. */
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

function parse({
  bytes,
}: Pick<Line, 'bytes'>): { readonly type: unknown; readonly value: unknown } | undefined {
  const whole = bytes && tryParseLossless(bytes.toString('utf8'));
  if (!isObject(whole)) return undefined;
  const { type, ...value } = whole;
  return { type, value };
}

/** Reads backwards from the end of the file. */
async function readLastLine(file: string): Promise<Buffer> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file);
    const parts: Buffer[] = [];
    for (let end = (await handle.stat()).size; end > 0; ) {
      const start = Math.max(0, end - chunkSize);
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(end - start), 0, end - start, start);
      const chunk = buffer.subarray(0, bytesRead);
      const isBlank = (byte: number) => byte === LINE_FEED || byte === 0x0d || byte === 0x20;
      const used =
        parts.length === 0 ? chunk.subarray(0, chunk.findLastIndex((byte) => !isBlank(byte)) + 1) : chunk;
      const feed = used.lastIndexOf(LINE_FEED);
      if (feed !== -1) return Buffer.concat([used.subarray(feed + 1), ...parts]);
      if (used.length > 0) parts.unshift(used);
      end = start;
    }
    return Buffer.concat(parts);
  } catch (cause) {
    throw unreadable(file, cause);
  } finally {
    await handle?.close();
  }
}

const chunkSize = 64 * 1024;
const LINE_FEED = 0x0a;

function unfit(file: string, problem: keyof typeof problems, line = 1): RuntimeError {
  const { at, message, hint } = problems[problem];
  return new RuntimeError('FILE_UNREADABLE', `${file}${at ? `:${line}` : ''} ${message}`, { hint });
}

const problems = {
  reportAlone: {
    at: false,
    message: 'holds the report of a run, but not its cases',
    hint: 'Run the suite with --reporter jsonl=FILE, and give that file.',
  },
  noRun: {
    at: true,
    message: 'does not begin with the header of a run',
    hint: 'Give a file that `eval run --reporter jsonl=FILE` wrote.',
  },
  several: {
    at: false,
    message: 'holds the runs of several suites',
    hint: 'Give the id of a stored run (`eval list`), or run one suite with --reporter jsonl=FILE.',
  },
  damaged: {
    at: true,
    message: 'is not a line of a run',
    hint: 'The file was changed or damaged: run the suite again.',
  },
} as const;

function unreadable(file: string, cause: unknown): RuntimeError {
  if (cause instanceof RuntimeError) return cause;
  return new RuntimeError('FILE_UNREADABLE', `${file} ${whyUnreadable(cause)}`, { cause });
}
