import type { Store } from '../../store/store.ts';

/** The store, which calls `kick` after whatever may have kept a notice. */
export function notifyingStore(store: Store, kick: () => void): Store {
  const kicked =
    <Given extends unknown[], Result>(work: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      const result = await work(...given);
      kick();
      return result;
    };
  return {
    ...store,
    addPending: kicked(store.addPending),
    decide: kicked(store.decide),
    setRunStatus: kicked(store.setRunStatus),
    listExpired: kicked(store.listExpired),
  };
}
