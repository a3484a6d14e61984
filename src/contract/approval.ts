import type { Fault } from '../base/errors.ts';
import type { Json } from '../base/json/json.ts';

/** A person's approval. It accompanies `args` when a pending tool is called again. */
export interface Approval {
  readonly id: string;
  readonly decision: 'approved';
  readonly by: string;
  readonly reason: string;
}

/**
 * Why a call waits. `tool`: the tool answered pending. `hook`: a filter requires a decision. `approval`: the config
 * requires approval. `interrupted`: a call that must not be repeated was cut off, and its effect is unknown.
 */
export type PendingOrigin = 'tool' | 'hook' | 'approval' | 'interrupted';

/** A tool call that waits for a person. */
export interface PendingCall {
  readonly id: string;
  readonly runId: string;
  /** The step's path within the run. */
  readonly step: string;
  readonly callId: string;
  readonly tool: string;
  readonly args: Json;
  readonly origin: PendingOrigin;
  /** The hook that requires the decision; null unless `origin` is `hook`. */
  readonly hook: string | null;
  readonly reason: string;
  readonly message: string;
  /** The tool's whole pending object, unknown members included; `{}` for other origins. */
  readonly members: Json;
  /** The pending that was approved before this one, if the approved call went pending again. */
  readonly previous: string | null;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Milliseconds since 1970; null: never. */
  readonly expiresAt: number | null;
  /** How many different people must approve, at least 2; absent: one. */
  readonly quorum?: number | undefined;
}

/** The approval of one of several people that a call requires. */
export interface Consent {
  readonly by: string;
  readonly reason: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The decision about a pending call. The first one stored counts. */
export type PendingDecision =
  /** Run the call, with these arguments unless they are null. */
  | { readonly kind: 'approved'; readonly args: Json | null; readonly by: string; readonly reason: string }
  | { readonly kind: 'rejected'; readonly by: string; readonly reason: string }
  /** A person supplies the result instead of the tool. */
  | { readonly kind: 'responded'; readonly result: Json; readonly by: string; readonly reason: string }
  | { readonly kind: 'expired' }
  | { readonly kind: 'cancelled'; readonly by: string; readonly reason: string };

/** A pending call and its decision; `ruling` and `decidedAt` are null while it is open. */
export interface PendingRecord extends PendingCall {
  readonly ruling: PendingDecision | null;
  /** Milliseconds since 1970. */
  readonly decidedAt: number | null;
  /** The approvals so far of a call with a quorum, one for each person, in order; absent: none. */
  readonly consents?: readonly Consent[] | undefined;
  readonly parent?: RunParent | undefined;
}

/** Tells the caller about a pending call. */
export interface PendingNotice {
  readonly id: string;
  readonly tool: string;
  /** In a nested run, the path from the outermost run. */
  readonly step: string;
  readonly reason: string;
  readonly message: string;
  /** ISO 8601; null: never. */
  readonly expires_at: string | null;
  /** The run that resumes after the decision; absent: the run of the call. */
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
  /** How many different people must approve; absent: one. */
  readonly quorum?: number;
  /** The approvals so far; only with `quorum`. */
  readonly approvals?: readonly { readonly by: string; readonly reason: string; readonly at: string }[];
  readonly by: string | null;
  readonly decision_reason: string | null;
  /** The edited arguments of an approval, else null. */
  readonly edited_args: unknown;
  /** The result that a person supplied, else null. */
  readonly result: unknown;
  readonly decided_at: string | null;
  readonly error?: Fault;
}

/** What people can do with an open call. `edit`: approve it with other arguments. `answer`: respond to a question. */
export type PendingChoice = 'approve' | 'edit' | 'respond' | 'answer' | 'reject';

export type PendingUse = 'not_used' | 'used' | 'expired';

/** A pending call with what a person needs to decide, by the config that is open now. */
export interface PendingInfo extends PendingDocument {
  /**
   * Stands for all that a decision depends on: the call and its arguments, the approvals so far, and whether it is
   * decided. A decision with this digest counts only if nothing has changed since.
   */
  readonly digest: string;
  /**
   * Whether the caller came back for the call after it was approved or answered. `expired`: it did not, and no longer
   * can. Null for any other call.
   */
  readonly use: PendingUse | null;
  /** Long texts are cut. `show` has them whole. */
  readonly args_cut?: true;
  /** The people who may decide; null: anyone with a name. */
  readonly deciders: readonly string[] | null;
  /** The decisions that are possible now; none for a call that is decided. */
  readonly choices: readonly PendingChoice[];
  /** The `input_schema` of the tool; null if the config has none. */
  readonly input_schema: Readonly<Record<string, unknown>> | boolean | null;
  /** The outermost run. */
  readonly run: {
    readonly kind: 'pipeline' | 'tool';
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  /**
   * The agent or gateway that made the call, and what it said about itself, or the principal of a call with an identity;
   * null for any other call.
   */
  readonly caller:
    | { readonly agent: string; readonly [member: string]: unknown }
    | { readonly principal: string }
    | null;
}

/** Calls that wait or were decided, oldest first. */
export interface PendingPage {
  readonly pending: readonly PendingInfo[];
  /** Given as `after`, it returns the next page; absent on the last one. */
  readonly next?: string;
}

export interface PendingCounts {
  readonly total: number;
  readonly by_status: Readonly<Record<PendingDocument['status'], number>>;
  readonly by_tool: Readonly<Record<string, number>>;
}

/**
 * What `approve` would do. `resumes`: the call goes on. `needs_approvals`: the approval is stored, and the call waits for
 * others. `refused`: this approval is not possible, for example because this person may not decide.
 */
export interface PendingCheck {
  readonly id: string;
  readonly outcome:
    | 'resumes'
    | 'needs_approvals'
    | 'args_invalid'
    | 'refused'
    | 'decided'
    | 'expired'
    | 'unknown';
  /** How many people have approved, of how many; only for an open call. */
  readonly approvals?: { readonly given: number; readonly needed: number };
  /** The error that `approve` would throw. */
  readonly error?: Fault;
}

/** Replaces the tool's name in the record of a question to a person. */
export const QUESTION = '@ask';

export function isQuestion({ tool }: { readonly tool: string }): boolean {
  return tool === QUESTION;
}

/** The parent of a run that a step of another run started. */
export interface RunParent {
  readonly id: string;
  /** The outermost run, which resumes together with all runs below it. */
  readonly root: string;
  /** The path of the parent's step, from the outermost run. */
  readonly step: string;
}

/** The path of a run's step, from the outermost run. */
export function placeOfStep(step: string, { parent }: { readonly parent?: RunParent | undefined }): string {
  return parent === undefined ? step : `${parent.step}/${step}`;
}
