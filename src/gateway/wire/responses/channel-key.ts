import type { ItemPath } from './streamed-item.ts';

/** Which text of which item a channel is. */
interface ChannelPlace {
  readonly index: number;
  readonly path: ItemPath;
  readonly itemId: string;
}

/** The key of a channel, from which a writer can open its item. */
export function formatChannel({ index, path, itemId }: ChannelPlace): string {
  return [index, ...path, itemId].join('/');
}

/** Throws Error for what is no such key. */
export function parseChannel(key: string): ChannelPlace {
  const [index = '', list = '', at = '', member = '', ...id] = key.split('/');
  if (list === '' || member === '') throw new Error('not a channel of a response');
  return { index: Number(index), path: [list, Number(at), member], itemId: id.join('/') };
}
