import type { Place } from '../place.ts';
import { openPlace } from '../place.ts';
import { formatEvent, type SseEvent } from '../sse.ts';
import { eventKindOf } from './stream-kinds.ts';
import type { ItemPath } from './streamed-item.ts';

/** What a client has of an item. */
export interface ClientItem {
  readonly id: string;
  readonly type: string;
  /** By their paths, joined by slashes. */
  readonly texts: Map<string, string>;
  /** Their types. */
  readonly parts: Map<string, string>;
  readonly ended: Set<string>;
  /** The whole item, once it was sent. */
  done: Place | undefined;
}

/** What a client has of a streamed response. */
export class ClientView {
  /** By the index under which they were sent. */
  readonly items = new Map<number, ClientItem>();
  response: Place | undefined;
  isEnded = false;
  /** Of the last event. */
  sequence = -1;
  /** The last event that told only how far the response is. */
  progress: string | undefined;

  /** A client has got an event. */
  note(event: SseEvent): void {
    if (event.data === undefined || event.data.trim() === '[DONE]') return;
    const root = openPlace(event.data);
    const sequence = root.at('sequence_number')?.value;
    if (typeof sequence === 'number') this.sequence = Math.max(this.sequence, sequence);
    const kind = eventKindOf(root.at('type')?.text ?? '');
    switch (kind?.is) {
      case 'response':
        this.isEnded ||= kind.isEnd;
        this.response = root.at('response');
        if (root.at('type')?.text === 'response.in_progress')
          this.progress = formatEvent(event.data, 'response.in_progress');
        break;
      case 'item':
        this.#noteItem(root, kind.isEnd);
        break;
      case 'part':
        this.#notePart(root, pathOf(root, kind.path), kind);
        break;
      case 'delta':
        this.addText(indexOf(root), pathOf(root, kind.path), root.at('delta')?.text ?? '');
        break;
      case 'text':
        this.items.get(indexOf(root))?.ended.add(pathOf(root, kind.path).join('/'));
        break;
      default:
    }
  }

  addItem(index: number, { id, type }: Pick<ClientItem, 'id' | 'type'>): ClientItem {
    const item = {
      id,
      type,
      texts: new Map(),
      parts: new Map<string, string>(),
      ended: new Set<string>(),
      done: undefined,
    };
    this.items.set(index, item);
    return item;
  }

  addText(index: number, path: ItemPath, text: string): void {
    const texts = this.items.get(index)?.texts;
    const key = path.join('/');
    texts?.set(key, (texts.get(key) ?? '') + text);
  }

  #noteItem(root: Place, isEnd: boolean): void {
    const place = root.at('item');
    const index = indexOf(root);
    const item =
      this.items.get(index) ??
      this.addItem(index, { id: place?.at('id')?.text ?? '', type: place?.at('type')?.text ?? '' });
    if (isEnd) item.done = place;
  }

  #notePart(root: Place, path: ItemPath, kind: { readonly member: string; readonly isEnd: boolean }): void {
    const item = this.items.get(indexOf(root));
    const part = root.at(kind.member);
    item?.parts.set(path.join('/'), part?.at('type')?.text ?? '');
    if (kind.isEnd) item?.ended.add(path.join('/'));
    for (const key of ['text', 'refusal']) {
      const text = part?.at(key)?.text;
      const at = [...path, key].join('/');
      if (text !== undefined && item?.texts.has(at) === false) item.texts.set(at, text);
    }
  }
}

function indexOf(root: Place): number {
  const index = root.at('output_index')?.value;
  return typeof index === 'number' ? index : -1;
}

function pathOf(root: Place, path: readonly string[]): ItemPath {
  return path.map((key) => (key.endsWith('_index') ? Number(root.at(key)?.value) : key));
}
