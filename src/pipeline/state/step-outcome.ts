import type { StepDocument } from '../../contract/run.ts';
import { type Fault, toFault } from '../../errors.ts';
import { exactMembers, requireMember } from '../../json/exact-members.ts';
import { Json } from '../../json/json.ts';

export type StepStatus = 'ok' | 'failed' | 'denied' | 'skipped';

/** The outcome of one step. */
export interface StepOutcome {
  readonly status: StepStatus;
  /**
   * What expressions see as `steps.ID`: `status`, the members of its kind, and `error` if it failed or was
   * denied.
   */
  readonly view: Json;
  readonly error?: Fault;
  /** The path of the nested step that made this one fail. */
  readonly failedAt?: string;
}

/** A step as the journal keeps it. */
export interface StepEntry extends StepOutcome {
  readonly kind: StepDocument['kind'];
  readonly durationMs: number;
}

export function okStep(members: Readonly<Record<string, unknown>>): StepOutcome {
  return { status: 'ok', view: Json.from({ status: 'ok', ...members }) };
}

export const skippedStep: StepOutcome = { status: 'skipped', view: new Json('{"status":"skipped"}') };

/** The outcome of a failed or denied step; `members` are further members of its view. */
export function failedStep(
  status: 'failed' | 'denied',
  error: Fault,
  members: Readonly<Record<string, unknown>> = {},
): StepOutcome {
  // Without the details: what a process wrote to stderr has passed no filter.
  const { code, message, hint } = error;
  const bare = { code, message, hint };
  return { status, view: Json.from({ status, ...members, error: bare }), error: bare };
}

/** The outcome of a step whose own work threw. */
export function failedStepFromError(thrown: unknown): StepOutcome {
  const error = toFault(thrown);
  return failedStep(error.code === 'DENIED' ? 'denied' : 'failed', error);
}

export function writeStepEntry({ kind, durationMs, status, view, error, failedAt }: StepEntry): Json {
  return Json.from({ kind, duration_ms: durationMs, status, view, error, failed_at: failedAt });
}

/** The inverse of `writeStepEntry`; undefined for an entry that is no step of the file, such as a model call. */
export function readStepEntry(json: Json): StepEntry | undefined {
  const { kind, duration_ms, status, error, failed_at: failedAt } = json.value as PlainEntry;
  if (kind === undefined) return undefined;
  const view = requireMember(exactMembers(json), 'view');
  return {
    kind,
    durationMs: duration_ms,
    status,
    view,
    ...(error && { error }),
    ...(failedAt && { failedAt }),
  };
}

/** What `writeStepEntry` writes, parsed. */
interface PlainEntry {
  readonly kind?: StepDocument['kind'];
  readonly duration_ms: number;
  readonly status: StepStatus;
  readonly error?: Fault;
  readonly failed_at?: string;
}
