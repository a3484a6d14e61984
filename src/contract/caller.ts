/** What a caller may do over HTTP, beside calls of models. Keys and tokens name the same scopes. */
export const scopes = [
  'tools:call',
  'pendings:read',
  'pendings:decide',
  'runs:read',
  'runs:control',
  'evals:rate',
] as const;
export type Scope = (typeof scopes)[number];

/** Who sends a request. */
export interface Principal {
  /** Unique among keys and tokens; `local` for the user of this machine. */
  readonly id: string;
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
  /** `tool`: the name of a tool that exists. */
  mayCall(tool: string): boolean;
}
