type WithoutUndefined<Value> = { [Key in keyof Value]?: Exclude<Value[Key], undefined> };

/** The object without its undefined members. */
export function omitUndefined<Value extends object>(value: Value): WithoutUndefined<Value> {
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(entries) as WithoutUndefined<Value>;
}
