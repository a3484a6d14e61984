/** An Agentao rule. */
export interface AgentaoSettings {
  readonly event: string;
  /** As the file has it; absent matches everything. */
  readonly matcher?: Readonly<Record<string, unknown>>;
  /** The static text of a prompt rule. */
  readonly prompt?: string;
  /** The command line as the file has it, which records name the rule by; absent for a prompt rule. */
  readonly command?: string;
  readonly stopReentryCap: number;
  readonly projectDir: string;
}
