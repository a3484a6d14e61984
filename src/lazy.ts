import type { Durable, DurableContext } from './durable.ts';
import type { Models, ModelsContext } from './models.ts';

// What most calls never need is neither read from disk nor opened before it is first used.

export function lazyModels(context: ModelsContext): Models {
  let opening: Promise<Models> | undefined;
  return {
    model: async (...given) => {
      opening ??= import('./models.ts').then(({ openModels }) => openModels(context));
      return await (await opening).model(...given);
    },
    close: async () => await (await opening)?.close(),
  };
}

export function lazyDurable(context: DurableContext): Durable {
  let opening: Promise<Durable> | undefined;
  const open = () => {
    context.requireOpen();
    opening ??= import('./durable.ts').then(({ openDurable }) => openDurable(context));
    return opening;
  };
  return {
    run: async (...given) => await (await open()).run(...given),
    runs: {
      list: async (...given) => await (await open()).runs.list(...given),
      show: async (...given) => await (await open()).runs.show(...given),
      resume: async (...given) => await (await open()).runs.resume(...given),
      cancel: async (...given) => await (await open()).runs.cancel(...given),
      prune: async (...given) => await (await open()).runs.prune(...given),
    },
    pending: {
      list: async (...given) => await (await open()).pending.list(...given),
      show: async (...given) => await (await open()).pending.show(...given),
      approve: async (...given) => await (await open()).pending.approve(...given),
      reject: async (...given) => await (await open()).pending.reject(...given),
      respond: async (...given) => await (await open()).pending.respond(...given),
    },
    setDown: async () => await (await opening)?.setDown(),
  };
}
