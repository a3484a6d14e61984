import type { Fault } from '../base/errors.ts';

/** The result of a tool call, as `tool call --json` prints it. */
export type ToolDocument =
  | {
      readonly status: 'ok';
      readonly result: unknown;
      /** What hooks gave a model to read beside the result. */
      readonly context?: readonly string[];
      readonly metadata?: Readonly<Record<string, unknown>>;
    }
  | {
      readonly status: 'failed';
      readonly error: Fault;
      readonly context?: readonly string[];
      readonly metadata?: Readonly<Record<string, unknown>>;
    }
  | {
      readonly status: 'denied';
      readonly hook: string;
      readonly reason: string;
      readonly metadata: Readonly<Record<string, unknown>>;
      /** How much more than the call the hook ended. */
      readonly abort?: 'turn' | 'session';
      /** Set when the hook failed, rather than answered deny. */
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
  /** The replaced members, final. */
  readonly replace: Readonly<Record<string, unknown>> | null;
  /** The replacement for the work itself: the text of an enforced denial, or the result of a `respond`. */
  readonly result: unknown;
  /** Texts for the model, in the order of the hooks. */
  readonly context: readonly string[];
  /** How much an abort ends. */
  readonly abort: 'turn' | 'session' | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly error?: Fault;
}

/** A tool as `tool list --json` prints it. */
export interface ToolInfo {
  readonly name: string;
  readonly description: string;
  /** `exec` one process per call, `fork` one that is forked, `server` a long-lived one, `none` nothing to run. */
  readonly runtime: 'exec' | 'server' | 'fork' | 'none';
  readonly dialect: string | null;
  readonly input_schema: unknown;
  readonly output_schema: unknown;
}

/** A provider as it is declared. */
export interface ProviderInfo {
  readonly id: string;
  readonly type: string;
  readonly model: string;
}

/** A hook as it is declared. */
export interface HookInfo {
  readonly name: string;
  readonly dialect: string;
  /** What a native hook is about; null for a foreign one. */
  readonly hook: string | null;
  readonly phases: readonly string[];
  readonly mode: string | null;
  /** A foreign hook's points, by its dialect's own names. */
  readonly points: readonly string[];
  /** deny: what fails denies. own: by the rules of the dialect, some failures pass. */
  readonly on_failure: 'deny' | 'own';
  /** Where it is declared: of an imported hook, in the foreign file. */
  readonly source: { readonly file: string; readonly line: number; readonly column: number };
}
