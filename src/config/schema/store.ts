/** The stores that this version can use; `file` is PromptKit’s word for a folder of its own. */
export const storeTypes = ['sqlite', 'postgres', 'memory', 'file'] as const;

export const stateStoreSchema = {
  type: ['object', 'null'],
  description:
    'Where approvals and runs are kept. Default: the SQLite file .signalbox/state.db beside this file.',
  additionalProperties: false,
  properties: {
    type: {
      type: 'string',
      enum: storeTypes,
      description:
        'sqlite (default): a file that outlives the process. postgres: a database that many machines may share. memory: gone with the process. file: PromptKit’s; a SQLite file in the folder file.root.',
    },
    path: {
      type: 'string',
      minLength: 1,
      description:
        'The SQLite file of type sqlite, relative to this file’s folder. Default: .signalbox/state.db.',
    },
    url_env: {
      type: 'string',
      minLength: 1,
      description:
        'The environment variable that holds the address of type postgres, as in postgres://user:password@host:5432/database.',
    },
    file: {
      type: ['object', 'null'],
      description: 'PromptKit’s settings of type file.',
      additionalProperties: false,
      properties: {
        root: {
          type: 'string',
          description: 'The folder, relative to this file’s; state.db in it is the store.',
        },
        fsync: { description: 'PromptKit’s fsync. Not used: every write is durable.' },
        ttl_days: { description: 'PromptKit’s ttl_days. Not used.' },
      },
    },
    redis: { description: 'PromptKit’s settings of type redis. Not used, contents not checked.' },
  },
} as const;
