#!/bin/sh
case "$(cat)" in
  *Thank*) echo '{"score": 1}' ;;
  *) echo '{"score": 0}' ;;
esac
