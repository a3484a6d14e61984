#!/bin/sh
# Tool. stdin {"args": {"name": "Ada", "language": "fr"}}, stdout {"result": "Bonjour, Ada !"}.
# Write only the reply to stdout. To debug, print to stderr (>&2). If jq fails, the call fails.
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
