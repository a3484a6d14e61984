import type { SourceLocation } from '../base/yaml/problem.ts';

/** An entry of `spec.sandboxes`: paths and programs are as the file has them. */
export type SandboxConfig = { readonly name: string; readonly position: SourceLocation } & (
  | { readonly mode: 'direct' }
  | BubblewrapConfig
  | CommandConfig
  | { readonly mode: 'refused'; readonly reason: string }
);

interface BubblewrapConfig {
  readonly mode: 'bubblewrap';
  readonly network: boolean;
  readonly read: readonly string[];
  readonly write: readonly string[];
}

/** A program that commands are handed to; PromptKit's modes are read as one. */
export interface CommandConfig {
  readonly mode: 'command';
  /** As a path from the file's folder, or a name to be looked for on PATH. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: 'inherit' | 'flags' | 'stdin';
  readonly envFlag: string;
  readonly kill?: readonly string[];
}
