import type { Fault } from '../base/errors.ts';

/** The result of a tool call, as `tool call --json` prints it. */
export type ToolDocument =
  | {
      readonly status: 'ok';
      readonly result: unknown;
      /** Texts from hooks for the model, beside the result. */
      readonly context?: readonly string[];
      readonly metadata?: Readonly<Record<string, unknown>>;
    }
  | {
      readonly status: 'failed';
      readonly error: Fault;
      /** The tool result of MCP by which the tool reported the failure. */
      readonly result?: unknown;
      readonly context?: readonly string[];
      readonly metadata?: Readonly<Record<string, unknown>>;
    }
  | {
      readonly status: 'denied';
      readonly hook: string;
      readonly reason: string;
      readonly metadata: Readonly<Record<string, unknown>>;
      /** Set if a hook ended more than the call: the turn or the session. */
      readonly abort?: 'turn' | 'session';
      /** Set if the hook failed, absent if it answered deny. */
      readonly error?: Fault;
    }
  | {
      readonly status: 'pending';
      readonly pending: {
        readonly id: string;
        readonly run_id: string;
        readonly reason: string;
        readonly message: string;
      };
    };

/** A tool call that may not have ended: `running` while its process runs, or while the run waits for other calls. */
export type CallOutcome = ToolDocument | { readonly status: 'running'; readonly run_id: string };

/** The result of an eval call, as `eval call --json` prints it. */
export type EvalDocument =
  | {
      readonly status: 'scored';
      /** 0..1. */
      readonly score: number;
      readonly passed: boolean;
      readonly detail: string;
      readonly data: Readonly<Record<string, unknown>> | null;
    }
  | { readonly status: 'unscored'; readonly reason: string; readonly passed: false; readonly error?: Fault };

/** The decision of a hook chain, as `hook fire --json` prints it. */
export interface DecisionDocument {
  readonly verdict: 'allow' | 'modify' | 'deny' | 'ask' | 'respond' | 'abort';
  /** The hook that decided, or the last one that modified. */
  readonly hook: string | null;
  readonly dialect: string | null;
  readonly reason: string;
  readonly enforced: boolean;
  /** The final values of the replaced members. */
  readonly replace: Readonly<Record<string, unknown>> | null;
  /** Replaces the work itself: the text of an enforced denial, or the result of a `respond`. */
  readonly result: unknown;
  /** Texts for the model, in the order of the hooks. */
  readonly context: readonly string[];
  /** What an abort ends. */
  readonly abort: 'turn' | 'session' | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly error?: Fault;
  /** Set if the call of an agent waits for a person. */
  readonly pending?: { readonly id: string; readonly run_id: string };
}

/** A tool as `tool list --json` prints it. */
export interface ToolInfo {
  readonly name: string;
  readonly description: string;
  /**
   * `exec`: one process per call. `fork`: a forked one per call. `server`: a long-lived process. `mcp`: a tool of an MCP
   * server. `none`: no process.
   */
  readonly runtime: 'exec' | 'server' | 'fork' | 'mcp' | 'none';
  readonly dialect: string | null;
  readonly input_schema: unknown;
  readonly output_schema: unknown;
  /** A name for people; null: none. */
  readonly title: string | null;
  /** The effects of a call. An absent member is unknown. */
  readonly annotations: {
    readonly read_only?: boolean;
    readonly destructive?: boolean;
    readonly idempotent?: boolean;
    readonly open_world?: boolean;
  };
  /** The approval that the config requires; null: none. A hook or the tool itself may still ask. */
  readonly approval: {
    /** `conditional`: it depends on the arguments. */
    readonly needed: 'always' | 'conditional';
    /** The people who may decide; null: anyone with a name. */
    readonly by: readonly string[] | null;
    /** The number of people who must approve. */
    readonly quorum: number;
    /** Milliseconds for a decision; null: no limit. */
    readonly expires_ms: number | null;
  } | null;
  readonly mcp: {
    /** `content`: the result is a tool result of MCP. null: any JSON value. */
    readonly result: 'content' | null;
    /** Whether a client may or must run the call as a task; null: neither. */
    readonly task: 'allowed' | 'required' | null;
  };
}

export interface ProviderInfo {
  readonly id: string;
  readonly type: string;
  readonly model: string;
}

export interface HookInfo {
  readonly name: string;
  readonly dialect: string;
  /** The kind of a native hook; null for a foreign one. */
  readonly hook: string | null;
  readonly phases: readonly string[];
  readonly mode: string | null;
  /** A foreign hook's points, by its dialect's names. */
  readonly points: readonly string[];
  /** `deny`: any failure denies. `own`: the dialect's rules let some failures pass. */
  readonly on_failure: 'deny' | 'own';
  /** Where the hook is declared; for an imported hook, in the foreign file. */
  readonly source: { readonly file: string; readonly line: number; readonly column: number };
}
