/** Values of variables, by name. */
export type Variables = Readonly<Record<string, unknown>>;
