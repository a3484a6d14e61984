import { OUTPUT } from '../rows.ts';
import type { RecordParts } from '../sqlite/record-parts.ts';
import { checksumOf, encodeText } from '../sqlite/row.ts';
import type { Change, PendingRow, StatusChange, StepEnd } from '../sqlite/write/change.ts';

export interface FunctionCall {
  readonly name: string;
  readonly values: readonly unknown[];
}

/** The claim of the writer; null if the run is not claimed here. */
export interface ChangeOwner {
  readonly epoch: number | null;
  readonly pid: number;
  readonly token: string;
}

export function toCall(change: Change, { epoch, pid, token }: ChangeOwner): FunctionCall {
  const { what, runId } = change;
  const name = change.what === 'set_status' && change.change.reopens ? 'reopen' : what;
  return { name, values: [runId, epoch, pid, token, ...valuesOf(change)].map(keep) };
}

/** One statement with all calls in order; each answer is a column. */
export function toStatement(calls: readonly FunctionCall[]): {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly name?: string;
} {
  const values: unknown[] = [];
  // Postgres evaluates a list of columns in order; the contract tests of stores verify that.
  const columns = calls.map(
    (call, index) =>
      `signalbox.${call.name}(${call.values.map((value) => `$${values.push(value)}`).join()}) AS a${index}`,
  );
  const text = `SELECT ${columns.join()}`;
  return calls.length <= 2 ? { text, values, name: calls.map(({ name }) => name).join() } : { text, values };
}

function keep(value: unknown): unknown {
  return typeof value === 'string' ? encodeText(value) : value;
}

function valuesOf(change: Change): readonly unknown[] {
  switch (change.what) {
    case 'create_run': {
      const { kind, name, file, source, config, input, created_at } = change.run;
      const row = [kind, name, file, source, config, input, created_at];
      return [...row, change.build, change.isDispatched, change.labels, change.kin];
    }
    case 'begin_step': {
      const { step, at, unlessCancelled } = change.step;
      return [step, at, unlessCancelled];
    }
    case 'end_step':
      return endValues(change.step);
    case 'add_pending':
      return callValues(change.call);
    case 'set_status':
      return change.change.reopens ? [change.change.status, change.change.at] : statusValues(change.change);
  }
}

function endValues({ step, outcome, at }: StepEnd): readonly unknown[] {
  const sum = checksumOf(step, outcome.text);
  return [step, at, outcome.text, sum, ...partValues(step, outcome.parts)];
}

function callValues({ row }: PendingRow): readonly unknown[] {
  const { id, step, call_id, tool, args, origin, hook, reason, message, members, previous } = row;
  const words = [id, step, call_id, tool, args, origin, hook, reason, message, members, previous];
  return [...words, row['created_at'], row['expires_at'], row['quorum'] ?? null];
}

function statusValues({ status, at, row, outputParts, suspension }: StatusChange): readonly unknown[] {
  const { keep_output, output, keep_error, error } = row;
  const kept = [status, at, keep_output === 1, output, keep_error === 1, error];
  const { why, since, due_at, tries, step, error: fault, calls } = suspension ?? {};
  const beside = [why, since, due_at, tries, step, fault, calls].map((value) => value ?? null);
  return [...kept, outputParts === undefined, ...partValues(OUTPUT, outputParts ?? null), ...beside];
}

function partValues(step: string, parts: RecordParts | null): readonly unknown[] {
  if (parts === null) return [null, null, null, null, null];
  const { refs, texts } = parts;
  return [
    ...[refs, checksumOf(step, refs), texts.map(({ number }) => number)],
    texts.map(({ text }) => checksumOf(step, text)),
    texts.map(({ text }) => encodeText(text)),
  ];
}
