import type { Fault } from '../base/errors.ts';
import type { Json } from '../base/json/json.ts';

/** The record of a person's approval, sent beside `args` when a pending tool is called again. */
export interface Approval {
  readonly id: string;
  readonly decision: 'approved';
  /** Who decided. */
  readonly by: string;
  readonly reason: string;
}

/**
 * Why a call waits: `tool` the tool answered pending, `hook` a filter asked, `approval` the config requires
 * approval, `interrupted` a call that must not be repeated was cut off and nobody knows whether it acted.
 */
export type PendingOrigin = 'tool' | 'hook' | 'approval' | 'interrupted';

/** A tool call that waits for a person. */
export interface PendingCall {
  readonly id: string;
  readonly runId: string;
  /** The step's path within the run, as the journal names it. */
  readonly step: string;
  readonly callId: string;
  readonly tool: string;
  /** The arguments that the tool would be given, or was. */
  readonly args: Json;
  readonly origin: PendingOrigin;
  /** The hook that asked; null unless `origin` is `hook`. */
  readonly hook: string | null;
  readonly reason: string;
  readonly message: string;
  /** The tool's whole pending object, unknown members included; `{}` for other origins. */
  readonly members: Json;
  /** The pending that was approved before this one, when the approved call went pending again. */
  readonly previous: string | null;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Milliseconds since 1970; null: never. */
  readonly expiresAt: number | null;
  /** How many different people must approve, from 2; absent: one does. */
  readonly quorum?: number | undefined;
}

/** That one of several people whom a call needs has approved it. */
export interface Consent {
  readonly by: string;
  readonly reason: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The decision about a pending call. Of several, the first one stored counts. */
export type PendingDecision =
  /** Run it, with these arguments instead if there are any. */
  | { readonly kind: 'approved'; readonly args: Json | null; readonly by: string; readonly reason: string }
  | { readonly kind: 'rejected'; readonly by: string; readonly reason: string }
  /** A person answers in the tool's place. */
  | { readonly kind: 'responded'; readonly result: Json; readonly by: string; readonly reason: string }
  /** Nobody decided in time. */
  | { readonly kind: 'expired' }
  /** The run was cancelled. */
  | { readonly kind: 'cancelled'; readonly by: string; readonly reason: string };

/** A pending call and its decision; `ruling` and `decidedAt` are null while it is open. */
export interface PendingRecord extends PendingCall {
  readonly ruling: PendingDecision | null;
  /** Milliseconds since 1970. */
  readonly decidedAt: number | null;
  /** Who has approved a call that several people must approve, each once, in their order; absent: nobody. */
  readonly consents?: readonly Consent[] | undefined;
  /** Where its run belongs; absent: it is no step of another run. */
  readonly parent?: RunParent | undefined;
}

/** The notice about a pending call that its caller gets. */
export interface PendingNotice {
  readonly id: string;
  readonly tool: string;
  /** Of a run that is a step of another: the path from the outermost run on. */
  readonly step: string;
  readonly reason: string;
  readonly message: string;
  /** ISO 8601; null: never. */
  readonly expires_at: string | null;
  /** The run that goes on when it is decided; absent: the one whose call it is. */
  readonly root_run_id?: string;
}

/** A pending call as `pending show --json` prints it. Times are ISO 8601. */
export interface PendingDocument extends PendingNotice {
  readonly run_id: string;
  readonly call_id: string;
  readonly args: unknown;
  readonly origin: PendingOrigin;
  readonly hook: string | null;
  readonly members: unknown;
  readonly previous: string | null;
  readonly created_at: string;
  readonly status: 'open' | PendingDecision['kind'];
  /** How many different people must approve; absent: one does. */
  readonly quorum?: number;
  /** Who has done so; with `quorum` only. */
  readonly approvals?: readonly { readonly by: string; readonly reason: string; readonly at: string }[];
  readonly by: string | null;
  readonly decision_reason: string | null;
  /** Edited arguments of an approval; null otherwise. */
  readonly edited_args: unknown;
  /** The result that a person gave; null otherwise. */
  readonly result: unknown;
  readonly decided_at: string | null;
  readonly error?: Fault;
}

/** In place of a tool's name, in the record of a question to a person. */
export const QUESTION = '@ask';

/** Whether what waits is a question of an `ask` step, and no call of a tool. */
export function isQuestion({ tool }: { readonly tool: string }): boolean {
  return tool === QUESTION;
}

/** Where a run belongs that a step of another run has begun. */
export interface RunParent {
  /** The run whose step it is. */
  readonly id: string;
  /** The run that a person or program began, and that goes on with all runs below it. */
  readonly root: string;
  /** The path of the step, from that run on. */
  readonly step: string;
}

/** The path of a step of a run, from the outermost run on. */
export function placeOfStep(step: string, { parent }: { readonly parent?: RunParent | undefined }): string {
  return parent === undefined ? step : `${parent.step}/${step}`;
}
