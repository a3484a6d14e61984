/** Something that is made when it is first needed, and then kept. */
export interface Once<Value> {
  /** Makes it, or gives what was made. Rejects as the making does; a failure is not remembered. */
  open(): Promise<Value>;
  /** What was made, once its making has ended; undefined where nothing was. Never rejects. */
  opened(): Promise<Value | undefined>;
  /** A method of it, which makes it first. */
  method<Given extends unknown[], Result>(
    pick: (value: Value) => (...given: Given) => Result | PromiseLike<Result>,
  ): (...given: Given) => Promise<Result>;
}

/** What `load` gives, of which there is at most one: simultaneous first uses share it. */
export function once<Value>(load: () => Promise<Value>): Once<Value> {
  let opening: Promise<Value> | undefined;
  const open = () => {
    opening ??= load().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  return {
    open,
    opened: async () => await opening?.catch(() => undefined),
    method:
      (pick) =>
      async (...given) =>
        await pick(await open())(...given),
  };
}
