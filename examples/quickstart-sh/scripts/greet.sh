#!/bin/sh
# Tool. Answers {"args": {"name": "Ada", "language": "fr"}} with "Bonjour, Ada !".
. "${0%/*}/signalbox.sh"

greet() {
  name=$(get .args.name)
  case $(get '.args.language // "en"') in
  en) text "Hello, $name!" ;;
  de) text "Hallo, $name!" ;;
  es) text "¡Hola, $name!" ;;
  fr) text "Bonjour, $name !" ;;
  ja) text "${name}さん、こんにちは！" ;;
  *) fail 'cannot greet in that language' ;;
  esac
}

tool greet
