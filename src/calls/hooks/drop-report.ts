import type { Emit } from '../../contract/event.ts';

/** Says what is dropped of full queues, without a line for every event of a flood. */
export interface DropReport {
  /** An event of that phase did not fit into the queue of the hook. */
  add(name: string, phase: string): void;
  /** The queue has room again, or is closed: what was not said yet is said. */
  end(name: string): void;
}

/** Emits each of the first drops of a queue that is full, then how many there were each time that number has doubled. */
export function createDropReport(emit: Emit, queueLength: number): DropReport {
  const floods = new Map<string, Flood>();
  const drop = (name: string, detail: string) =>
    emit({ type: 'dropped', name, what: 'observer event', detail });
  return {
    add: (name, phase) => {
      const flood = floods.get(name) ?? { count: 0, said: 0 };
      flood.count += 1;
      floods.set(name, flood);
      if (flood.count <= EACH) drop(name, `${phase}: ${queueLength} events are waiting already`);
      else if (flood.count < 2 * flood.said) return;
      else drop(name, `${flood.count} events so far: ${queueLength} events are waiting already`);
      flood.said = flood.count;
    },
    end: (name) => {
      const { count = 0, said = 0 } = floods.get(name) ?? {};
      if (count > said)
        drop(name, `${count} events in all, while ${queueLength} events were waiting already`);
      if (count > 0) floods.delete(name);
    },
  };
}

interface Flood {
  count: number;
  /** The last count that was said. */
  said: number;
}

/** How many drops of a flood are said one by one. */
const EACH = 16;
