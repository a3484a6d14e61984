import type { Fault } from '../errors.ts';

/** What a tool call came to, as `tool call --json` prints it. */
export type ToolDocument =
  | { readonly status: 'ok'; readonly result: unknown; readonly metadata?: Readonly<Record<string, unknown>> }
  | {
      readonly status: 'failed';
      readonly error: Fault;
      readonly metadata?: Readonly<Record<string, unknown>>;
    }
  | {
      readonly status: 'denied';
      readonly hook: string;
      readonly reason: string;
      readonly metadata: Readonly<Record<string, unknown>>;
      /** Set when a fault of the hook, rather than its word, denied. */
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

/** What an eval call came to, as `eval call --json` prints it. */
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

/** What a chain of hooks came to, as `hook fire --json` prints it. */
export interface DecisionDocument {
  readonly verdict: 'allow' | 'deny' | 'modify' | 'ask';
  /** The hook that denied or asked, or the last one that modified. */
  readonly hook: string | null;
  readonly dialect: string | null;
  readonly reason: string;
  readonly enforced: boolean;
  /** The replaced members, final. */
  readonly replace: Readonly<Record<string, unknown>> | null;
  /** What the caller is given instead of a withheld answer. */
  readonly result: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly error?: Fault;
}

/** A tool as `tool list --json` prints it. */
export interface ToolInfo {
  readonly name: string;
  readonly description: string;
  /** `exec` one process per call, `server` a long-lived one, `none` nothing to run. */
  readonly runtime: 'exec' | 'server' | 'none';
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

/** A hook as it stands in the file. */
export interface HookInfo {
  readonly name: string;
  readonly hook: string;
  readonly phases: readonly string[];
  readonly mode: string;
  readonly dialect: string;
}
