import { everyPicoclawKind, type PicoclawKind, picoclawKinds } from './config/events.ts';

/** The kind of that number or name, in either form. */
export function findKind(named: unknown): PicoclawKind | undefined {
  if (named === undefined) return undefined;
  return picoclawKinds.find(
    ({ number, legacy, dotted }) => number === named || legacy === named || dotted === named,
  );
}

/** Whether an `observe` list asks for it. */
export function isObserved(observe: readonly string[], { legacy, dotted }: PicoclawKind): boolean {
  return observe.some((name) => name === dotted || name === legacy || everyPicoclawKind.includes(name));
}
