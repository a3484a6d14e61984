/** The folders of a Claude Code handler, for which the placeholders of its command stand. */
export interface HandlerFolders {
  readonly projectDir: string;
  readonly pluginRoot?: string;
  readonly pluginData?: string;
}

/** A Claude Code handler. */
export interface ClaudeSettings extends HandlerFolders {
  readonly event: string;
  readonly matcher?: string;
  /** A permission rule, as in `Bash(git *)`. */
  readonly condition?: string;
  /** In the background: only context counts, later. */
  readonly isAsync: boolean;
  /** Whose line `exec.command` is; absent in the exec form and for an http handler. */
  readonly shell?: 'sh' | 'bash' | 'powershell';
  readonly http?: ClaudeHttp;
  /** Forced continuations in a row after which a Stop hook is overridden. */
  readonly stopCap: number;
}

/** An http handler: a POST of the payload. */
export interface ClaudeHttp {
  readonly url: string;
  /** As the file has them; `$VAR` and `${VAR}` stand for those of `allowedEnvVars`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly allowedEnvVars: readonly string[];
  /** Names to take from the host, or `NAME=value` literals: the only source of header variables. */
  readonly env: readonly string[];
  readonly timeoutMs?: number;
  readonly maxOutputBytes?: number;
}
