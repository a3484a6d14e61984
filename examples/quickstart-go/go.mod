module quickstart

go 1.19
