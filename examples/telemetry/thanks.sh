#!/bin/sh
case "$(cat)" in
  *[Tt]hank*) echo '{"score": 1}' ;;
  *) echo '{"score": 0}' ;;
esac
