export const codexHeaders: Readonly<Record<string, string>> = {
  originator: 'codex_cli_rs',
  'user-agent': 'codex_cli_rs/0.98.0 (Ubuntu 24.4.0; x86_64) xterm-256color',
  'session-id': '019a0000-0000-7000-8000-000000000001',
  'thread-id': '019a0000-0000-7000-8000-000000000001',
  version: '0.98.0',
};

/** A request of a later turn, with each kind of item that Codex sends. */
export const codexRequest = {
  model: 'gpt-5-codex',
  instructions: 'You are a coding agent running in a terminal.',
  input: [
    {
      type: 'message',
      id: 'msg_bd0bafb7-47d0-5504-8226-000000000001',
      role: 'developer',
      content: [
        { type: 'input_text', text: '<permissions instructions>Ask first.</permissions instructions>' },
      ],
    },
    {
      type: 'message',
      role: 'user',
      content: [
        {
          type: 'input_text',
          text: '# AGENTS.md instructions\n\n<INSTRUCTIONS>\nKeep it small.\n</INSTRUCTIONS>',
        },
        {
          type: 'input_text',
          text: '<environment_context>\n  <cwd>/home/ann/project</cwd>\n</environment_context>',
        },
      ],
    },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Fix the README' }] },
    {
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: '**Looking around**' }],
      content: null,
      encrypted_content: 'gAAAAABoSealed==',
    },
    {
      type: 'function_call',
      name: 'shell_command',
      arguments: '{"command":"ls","workdir":"/home/ann/project"}',
      call_id: 'call_1',
    },
    {
      type: 'function_call_output',
      id: 'fco_01a205a6-7992-7380-b95d-000000000001',
      call_id: 'call_1',
      output: '{"output":"README.md\\n","metadata":{"exit_code":0,"duration_seconds":0.1}}',
    },
    {
      type: 'custom_tool_call',
      status: 'completed',
      call_id: 'call_2',
      name: 'apply_patch',
      input: '*** Begin Patch\n*** Update File: README.md\n@@\n-a\n+b\n*** End Patch\n',
    },
    {
      type: 'custom_tool_call_output',
      call_id: 'call_2',
      output: 'Success. Updated the following files:\nM README.md\n',
    },
    {
      type: 'local_shell_call',
      call_id: 'call_3',
      status: 'completed',
      action: {
        type: 'exec',
        command: ['ls', '-l'],
        timeout_ms: null,
        working_directory: null,
        env: null,
        user: null,
      },
    },
    { type: 'function_call_output', call_id: 'call_3', output: 'total 0\n' },
    { type: 'function_call', name: 'view_image', arguments: '{"path":"a.png"}', call_id: 'call_4' },
    {
      type: 'function_call_output',
      call_id: 'call_4',
      output: [{ type: 'input_text', text: 'nothing there' }],
    },
    {
      type: 'web_search_call',
      status: 'completed',
      action: { type: 'open_page', url: 'https://docs.example/readme' },
    },
    { type: 'compaction', encrypted_content: 'gAAAAABoCompacted==' },
    {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Done with the first part.' }],
      phase: 'commentary',
    },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And the rest?' }] },
  ],
  tools: [
    {
      type: 'function',
      name: 'shell_command',
      description: 'Runs a shell command',
      strict: false,
      parameters: {
        type: 'object',
        properties: { command: { type: 'string' } },
        required: ['command'],
        additionalProperties: false,
      },
    },
    {
      type: 'custom',
      name: 'apply_patch',
      description: 'Edits files',
      format: { type: 'grammar', syntax: 'lark', definition: 'start: patch' },
    },
    {
      type: 'namespace',
      name: 'multi_agent_v1',
      description: 'Other agents',
      tools: [{ type: 'function', name: 'spawn', description: 'Starts one', parameters: { type: 'object' } }],
    },
    { type: 'web_search', external_web_access: false },
  ],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  reasoning: { effort: 'medium', summary: 'auto', context: 'all_turns' },
  store: false,
  stream: true,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: '019a0000-0000-7000-8000-000000000001',
  text: {
    verbosity: 'low',
    format: { type: 'json_schema', strict: true, schema: { type: 'object' }, name: 'codex_output_schema' },
  },
  client_metadata: {
    'x-codex-installation-id': '2f0c6a2e-0000-4000-8000-000000000001',
    'x-codex-turn-metadata': '{"turn_id":"1","sandbox":"none"}',
  },
};
