/** A fully resolved HTTP endpoint to which a hook’s payloads are posted. */
export interface HttpBinding {
  /** The entry's name. */
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  /** Values of forwarded variables, which no log may show. */
  readonly secrets: readonly string[];
}
