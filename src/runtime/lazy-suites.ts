import type { Suites, SuitesContext } from './suites.ts';

/** What only suites need is read from disk when the first one runs. */
export function lazySuites(context: SuitesContext): Suites {
  let opening: Promise<Suites> | undefined;
  const open = () => {
    context.requireOpen();
    opening ??= import('./suites.ts').then(({ openSuites }) => openSuites(context));
    return opening;
  };
  return {
    run: async (...given) => await (await open()).run(...given),
    runs: {
      list: async (...given) => await (await open()).runs.list(...given),
      open: async (...given) => await (await open()).runs.open(...given),
      prune: async (...given) => await (await open()).runs.prune(...given),
    },
  };
}
