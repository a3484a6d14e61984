#!/bin/sh
echo {}
