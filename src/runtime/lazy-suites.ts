import type { Suites, SuitesContext } from './suites-api.ts';

/** The suites API, whose modules are imported on first use. */
export function lazySuites(context: SuitesContext): Suites {
  let opening: Promise<Suites> | undefined;
  const open = () => {
    context.requireOpen();
    opening ??= import('./suites-api.ts').then(({ openSuites }) => openSuites(context));
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
