import { AsyncLocalStorage } from 'node:async_hooks';

/** Runs work for the caller with that key. In every queue, tasks of different keys take turns. */
export function inTurnOf<Result>(key: string, work: () => Result): Result {
  return keys.run(key, work);
}

/** The key of the current caller; empty without one. */
export function currentTurn(): string {
  return keys.getStore() ?? '';
}

const keys = new AsyncLocalStorage<string>();

type Task = () => Promise<unknown>;

/** A queue for p-queue: the next task is the oldest of the key that was served longest ago. */
export class TurnQueue {
  readonly #waiting = new Map<string, Map<string, Task>>();
  size = 0;

  enqueue(task: Task, { id = '' }: { readonly id?: string | undefined } = {}): void {
    const key = currentTurn();
    const tasks = this.#waiting.get(key) ?? new Map<string, Task>();
    this.#waiting.set(key, tasks.set(id, task));
    this.size += 1;
  }

  dequeue(): Task | undefined {
    for (const [key, tasks] of this.#waiting) {
      this.#waiting.delete(key);
      for (const [id, task] of tasks) {
        tasks.delete(id);
        this.size -= 1;
        if (tasks.size > 0) this.#waiting.set(key, tasks);
        return task;
      }
    }
    return undefined;
  }

  remove(id: string): void {
    for (const [key, tasks] of this.#waiting) {
      if (!tasks.delete(id)) continue;
      this.size -= 1;
      if (tasks.size === 0) this.#waiting.delete(key);
      return;
    }
  }

  filter(): Task[] {
    return [...this.#waiting.values()].flatMap((tasks) => [...tasks.values()]);
  }

  setPriority(): void {
    throw new TypeError('tasks that take turns have no priority');
  }
}
