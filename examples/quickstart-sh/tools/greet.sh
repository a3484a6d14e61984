#!/bin/sh
# Tool. stdin {"args": {"name": "Ada", "language": "fr"}}, stdout {"result": "Bonjour, Ada !"}.
# stdout is for the reply and nothing else; print to stderr (>&2) to debug. When jq fails, so does the call.
exec jq --compact-output '
  .args.name as $name |
  {
    en: "Hello, \($name)!",
    de: "Hallo, \($name)!",
    es: "¡Hola, \($name)!",
    fr: "Bonjour, \($name) !",
    ja: "\($name)さん、こんにちは！"
  }[.args.language // "en"] |
  if . == null then {error: "cannot greet in that language"} else {result: .} end
'
