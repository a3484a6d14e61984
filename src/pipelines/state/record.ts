import { type Fault, RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { composeJson } from '../../base/json/compose.ts';
import { type Json, parseLossless } from '../../base/json/json.ts';
import type { Reader } from '../../base/json/record.ts';
import { exactMembers } from '../../base/json/scan.ts';
import { readStoredFault } from '../../contract/stored-fault.ts';
import type { Journal, StepOptions } from './journal.ts';

export interface RecordKind<Value> {
  readonly name: string;
  write(value: Value): Json;
  readonly read: Reader<Value>;
}

export function plainRecord<Value>(name: string, read: Reader<Value>): RecordKind<Value> {
  return { name, write: composeJson, read };
}

export interface RecordSource {
  readonly run: string;
  readonly step: string;
}

/** Throws STORE_FAILED for a damaged record or a newer version. An absent `v` is version 1. */
export function readRecord<Value>(
  { name, read }: RecordKind<Value>,
  record: Json,
  { run, step }: RecordSource,
): Value {
  const about = `run ${run}, step "${step}": its ${name}`;
  const details = { run_id: run, step };
  const ends = `\`signalbox runs cancel ${run}\` ends the run.`;
  const version = versionOf(record);
  if (version > RECORD_VERSION) {
    const message = `${about} has version ${version}, but this Signalbox supports version ${RECORD_VERSION}`;
    const hint = `A newer Signalbox wrote it: resume the run with that version. ${ends}`;
    throw new RuntimeError('STORE_FAILED', message, { hint, details });
  }
  try {
    return read(record, '');
  } catch (error) {
    const message = `${about} cannot be read: ${toRuntimeError(error).message}`;
    const hint = `Resume the run with the Signalbox version that wrote it, or restore a backup. ${ends}`;
    throw new RuntimeError('STORE_FAILED', message, { hint, details, cause: error });
  }
}

const RECORD_VERSION = 1;

function versionOf(record: Json): number {
  const { skeleton } = record;
  if (!skeleton.startsWith('{') || !skeleton.includes('"v"')) return 1;
  const version = exactMembers(record).get('v');
  if (version === undefined) return 1;
  // Another type of `v` is from an unknown version.
  return typeof version.value === 'number' ? version.value : Number.POSITIVE_INFINITY;
}

/** Returns the value as a later execution will read it. */
export async function journalStep<Value>(
  journal: Journal,
  { name, kind }: { readonly name: string; readonly kind: RecordKind<Value> },
  work: () => Promise<Value>,
  options?: StepOptions,
): Promise<Value> {
  const record = await journal.step(name, async () => kind.write(await work()), options);
  return readRecord(kind, record, { run: journal.runId, step: name });
}

/** Returns undefined if the journal has no such step. Throws STORE_FAILED. */
export function findRecord<Value>(
  { runId, find }: Pick<Journal, 'runId' | 'find'>,
  name: string,
  kind: RecordKind<Value>,
): Value | undefined {
  const record = find(name);
  return record && readRecord(kind, record, { run: runId, step: name });
}

export const fault: Reader<Fault> = ({ text }) => readStoredFault(parseLossless(text));
