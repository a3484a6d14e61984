import type { Position } from '../../yaml/problem.ts';
import type { ClaudeSettings, PicoclawMethod } from '../config.ts';
import type { HandlerFolders } from '../placeholders.ts';

/** A Claude Code handler as read from its file, before it becomes a hook or a config entry. */
export interface ClaudeDraft {
  readonly dialect: 'claude';
  readonly event: string;
  readonly matcher?: string;
  readonly condition?: string;
  readonly isAsync: boolean;
  readonly timeoutMs?: number;
  readonly onFailure?: 'deny';
  readonly run: ClaudeCommand | ClaudeHttpPost;
  readonly folders: HandlerFolders;
  readonly isPlugin: boolean;
  readonly source: Position;
  readonly commandPosition: Position;
}

export interface ClaudeCommand {
  readonly type: 'command';
  readonly command: string;
  /** Absent in the shell form. */
  readonly args?: readonly string[];
  readonly shell?: NonNullable<ClaudeSettings['shell']>;
}

export interface ClaudeHttpPost {
  readonly type: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly allowedEnvVars: readonly string[];
}

/** An Agentao rule as its file declares it. */
export interface AgentaoDraft {
  readonly dialect: 'agentao';
  readonly event: string;
  readonly matcher?: Readonly<Record<string, unknown>>;
  /** Exactly one of the two. */
  readonly command?: string;
  readonly prompt?: string;
  readonly timeoutMs?: number;
  readonly projectDir: string;
  readonly source: Position;
  readonly commandPosition: Position;
}

/** An enabled process of PicoClaw’s config.json, with the file’s defaults. */
export interface PicoclawDraft {
  readonly dialect: 'picoclaw';
  readonly name: string;
  readonly priority: number;
  readonly command: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly dir: string;
  /** `NAME=value` literals. */
  readonly env: readonly string[];
  readonly intercept: readonly PicoclawMethod[];
  readonly observe: readonly string[];
  readonly interceptorTimeoutMs: number;
  readonly approvalTimeoutMs: number;
  readonly observerTimeoutMs: number;
  readonly source: Position;
  readonly commandPosition: Position;
}

export type HookDraft = ClaudeDraft | AgentaoDraft | PicoclawDraft;
