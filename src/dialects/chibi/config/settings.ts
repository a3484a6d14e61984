/** A chibi plugin. Its points come from its own `--schema`, when the runtime opens. */
export interface ChibiSettings {
  /** Element of the plugin's schema that this hook is; '' before the schema is known. */
  readonly tool: string;
  readonly points: readonly string[];
  readonly chibiHome: string;
  readonly projectRoot: string;
}
