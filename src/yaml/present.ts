type Present<Value> = { [Key in keyof Value]?: Exclude<Value[Key], undefined> };

/** Leaves out what is undefined: an absent key is absent, not undefined. */
export function present<Value extends object>(value: Value): Present<Value> {
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(entries) as Present<Value>;
}
